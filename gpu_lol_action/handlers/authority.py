"""Ask GitHub who somebody is to this repository, in as few requests as it takes."""

from __future__ import annotations

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.intake.gates import Authority


def read_authority(context: Context, login: str, role: str, policy: Policy) -> Authority:
    """Return role and whether the policy names this person; teams are asked only where nothing else lets them in.

    Raises TransientError where GitHub does not answer: nobody is let in, and nobody is told that they may not.
    """
    is_named = policy.names(login)
    if not is_named and role not in policy.roles:
        is_named = any(context.forge.is_team_member(team, login) for team in policy.teams)
    return Authority(role, is_named)
