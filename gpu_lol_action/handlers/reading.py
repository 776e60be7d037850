"""Read one commit as data and say what it needs: the way of every command that looks at code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.analysis.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.lookups import NO_LOOKUPS, Lookups, consult
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.proposal import with_cheapest_card
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers


@dataclass(frozen=True, slots=True)
class Reading:
    """A commit's analysis and the ladder of machines that fit it.

    ``asked`` is the spec before a card was chosen for it: where neither file nor command names one, every card that
    fits is a candidate.
    """

    sha: str
    asked: EnvironmentSpec
    analysis: Analysis
    ladder: Ladder


def read_commit(context: Context, sha: str, policy: Policy, *, is_fork: bool) -> Reading:
    """Read the tree of exactly that commit and price it. Raises SpecError where its `.gpu-lol.yaml` is invalid.

    ``is_fork``: a stranger wrote it, or chose what it is compared with; then less is asked from outside.
    """
    lookups = context.lookups.allowed(policy, is_fork=is_fork)
    with context.forge.tree(sha) as folder:
        return read_folder(folder, sha, policy, lookups)


def read_folder(folder: Path, sha: str, policy: Policy, lookups: Lookups = NO_LOOKUPS) -> Reading:
    """Do the same for a folder that is there already."""
    analysis = consult(read_checkout(folder), lookups)
    return Reading(sha, analysis.spec, with_cheapest_card(analysis), price(analysis.spec, policy))


def price(spec: EnvironmentSpec, policy: Policy, command: Command | None = None) -> Ladder:
    """Return the ladder for a spec with a command's options applied. Raises UserError for a card nobody rents."""
    requirement = requirement_from(spec, policy, command)
    if isinstance(requirement, UnknownAccelerator):
        names = " or ".join(f"`{name}`" for name in requirement.did_you_mean)
        raise UserError(
            "unknown_accelerator", requirement.what, fix=f"Did you mean {names}?" if names else "/gpu-lol help up"
        )
    lease = (command.lease if command else None) or policy.lease
    return rank_candidates(RankRequest(requirement, bundled_offers(), SNAPSHOT, lease))
