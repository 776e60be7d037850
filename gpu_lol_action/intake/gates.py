"""Identity gates: who commands what, where; one question each, answered with Allow or Deny.

They need no price: what may be spent is asked by ``spending_gates`` once a machine has been chosen. What cannot be read
is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.command_spec import CommandSpec, Permission
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.request import Allow, Command, Deny, Gate, PullRequest

FULL_SHA = 40


@dataclass(frozen=True, slots=True)
class Authority:
    """What GitHub says of somebody here: the role (``none`` where it is refused), and whether the policy names them."""

    role: str
    is_named: bool = False

    def may(self, permission: Permission, policy: Policy) -> bool:
        """Whether somebody of this authority may give commands of a kind."""
        match permission:
            case Permission.ANYONE:
                return True
            case Permission.COMMAND_ROLES:
                return self.is_named or self.role in policy.roles
            case Permission.CONFIRMERS:
                return self.role in policy.confirm_roles

    def may_command(self, policy: Policy) -> bool:
        """Whether somebody of this authority may give any command that is not open to everybody."""
        return any(self.may(kind, policy) for kind in (Permission.COMMAND_ROLES, Permission.CONFIRMERS))


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """Who commands what, on which pull request. ``rerun_by`` is who started the run again, None at its first attempt."""

    command: Command
    spec: CommandSpec
    authority: Authority
    pull_request: PullRequest
    repository: str
    policy: Policy
    author: str = ""
    rerun_by: str | None = None


def check_enabled(facts: IdentityFacts) -> Gate:
    """Refuse everything but teardown and help where the policy switches the bot off, or cannot be read."""
    return Allow() if facts.spec.name in ("down", "help") else policy_gate(facts.policy)


def policy_gate(policy: Policy) -> Gate:
    """Refuse everything where the policy switches the bot off, or cannot be read."""
    if policy.problem:
        return Deny(
            "policy_invalid",
            "the policy of this repository cannot be read, so it allows nothing",
            policy.problem,
            f"A maintainer corrects `{POLICY_PATH}` on the default branch.",
        )
    if policy.is_enabled:
        return Allow()
    return Deny(
        "disabled",
        "gpu-lol is switched off in this repository",
        f"`enabled: false` stands in `{POLICY_PATH}` on the default branch; only `down` works.",
        "A maintainer sets `enabled: true`.",
    )


def check_permission(facts: IdentityFacts) -> Gate:
    """Refuse those who may not give this command; strangers get a reaction and no essay."""
    if facts.authority.may(facts.spec.permission, facts.policy):
        return Allow()
    return deny_role(facts.authority.role, facts.policy, facts.spec.permission)


def deny_role(role: str, policy: Policy, permission: Permission = Permission.COMMAND_ROLES) -> Deny:
    """Return the refusal for somebody of this role."""
    roles, what = policy.roles, "commands need"
    if permission is Permission.CONFIRMERS:
        roles, what = policy.confirm_roles, "to confirm needs"
    named = f"one of the roles {', '.join(roles)}" if roles else "to be named in the policy"
    return Deny(
        "permission_denied",
        f"{what} {named}",
        f"your role in this repository is `{role}`.",
        "Ask a maintainer to give the command, or for write access.",
        is_quiet=True,
    )


def check_cloud(facts: IdentityFacts) -> Gate:
    """Refuse a cloud that the policy does not name."""
    cloud, clouds = facts.command.cloud, facts.policy.clouds
    if cloud is None or cloud in clouds:
        return Allow()
    return Deny(
        "cloud_not_allowed",
        f"the cloud `{cloud}` is not allowed here",
        f"the policy allows {', '.join(clouds) or 'none'}.",
        f"Leave `--cloud` out, or a maintainer adds it to `clouds` in `{POLICY_PATH}` on the default branch.",
    )


def check_rerun(facts: IdentityFacts) -> Gate:
    """Refuse what counts once where somebody else than the author started an old run again: the comment is not their word.

    And it was not about the commit that is the head by now.
    """
    again = facts.rerun_by
    if not (facts.spec.is_spending or facts.spec.is_once) or again is None or again.lower() == facts.author.lower():
        return Allow()
    return Deny(
        "rerun_by_another",
        f"this run was started again by `{again}`, not by who gave the command",
        "a command counts once, for the commit that was the head when it was given.",
        "Give the command in a comment of your own.",
    )


def check_pull_request_open(facts: IdentityFacts) -> Gate:
    """Refuse to spend for a pull request that is closed or merged."""
    if not (facts.spec.is_spending or facts.spec.ships_code) or facts.pull_request.state == "open":
        return Allow()
    state = "merged" if facts.pull_request.is_merged else "closed"
    return Deny(
        "pull_request_closed",
        f"this pull request is {state}",
        "a machine is rented for open pull requests only, because closing one ends its machine.",
        "Reopen it, or open a new one.",
    )


def check_fork(facts: IdentityFacts) -> Gate:
    """Refuse a fork's code on a machine of this repository, unless policy allows it and the command names the commit.

    In full: whoever may push can find another commit with the same few first digits.
    """
    if not (facts.spec.is_spending or facts.spec.ships_code) or not facts.pull_request.is_fork(facts.repository):
        return Allow()
    if facts.spec.name == "smoke":
        refused = _check_fork_test(facts)
        if refused is not None:
            return refused
    elif not facts.policy.may_forks_launch:
        return Deny(
            "fork_denied",
            "this pull request comes from a fork",
            "a fork's author is nobody whom this repository gave access to its money.",
            "Push the branch to this repository, after reading its code, and open a pull request there.",
        )
    if len(facts.command.sha or "") == FULL_SHA:
        return Allow()
    return Deny(
        "fork_sha_required",
        "this pull request comes from a fork, so the command must name its commit",
        "its author can change the head at any moment; all 40 digits say which code you have read.",
        "Read the commits, copy the id of the last one, and add it"
        + (" to the command." if facts.spec.name == "smoke" else " as `--sha`."),
    )


def _check_fork_test(facts: IdentityFacts) -> Deny | None:
    """Refuse a smoke test of a fork's code to all but those who may confirm: its machine is short-lived and holds no secret."""
    if not facts.policy.may_forks_smoke:
        return Deny(
            "fork_denied",
            "this pull request comes from a fork",
            f"`smoke.forks: false` stands in `{POLICY_PATH}` on the default branch.",
            "Push the branch to this repository, after reading its code, and open a pull request there.",
        )
    if facts.authority.may(Permission.CONFIRMERS, facts.policy):
        return None
    return deny_role(facts.authority.role, facts.policy, Permission.CONFIRMERS)


def check_sha(facts: IdentityFacts) -> Gate:
    """Refuse a commit that the command names but that is not the head that would be shipped."""
    wanted, head = facts.command.sha, facts.pull_request.head_sha
    if wanted is None or head.startswith(wanted):
        return Allow()
    # No command to copy: whoever named a commit wants to look at the new one first.
    return Deny(
        "ref_changed",
        f"`{wanted[:12]}` is not the head of this pull request",
        f"the head is `{head[:7]}`; only code that you named yourself is shipped.",
        "Look at the new commits, then name the last one.",
    )


IDENTITY = (
    check_enabled,
    check_permission,
    check_rerun,
    check_pull_request_open,
    check_cloud,
    check_fork,
    check_sha,
)


def identity_gate(facts: IdentityFacts) -> Gate:
    """Return the first refusal of the identity gates, else Allow."""
    return next((g for g in (gate(facts) for gate in IDENTITY) if isinstance(g, Deny)), Allow())
