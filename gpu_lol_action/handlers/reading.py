"""Read one commit as data and say what it needs: the way of every command that looks at code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from gpu_lol_action.analysis.checkout import Checkout, read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.corrected_spec import correct_spec
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import GpuLolError, UserError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.lookups import NO_LOOKUPS, Lookups, consult
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.proposal import with_cheapest_card
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers

NO_CORRECTIONS = Corrections()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A commit's tree, read as data."""

    sha: str
    checkout: Checkout


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


def read_note(context: Context, number: int) -> ProposalNote:
    """Return what people said about a pull request's proposal; a note that cannot be read corrects nothing."""
    if context.surfaces is None or not number:
        return ProposalNote()
    try:
        return context.surfaces.notes.read(number)
    except GpuLolError as error:
        context.progress.note(f"Left out: what was set for this pull request ({error.explanation.what}).")
        return ProposalNote()


def read_commit(
    context: Context, sha: str, policy: Policy, *, is_fork: bool, corrections: Corrections = NO_CORRECTIONS
) -> Reading:
    """Read the tree of exactly that commit and price it. Raises SpecError where its `.gpu-lol.yaml` is invalid.

    ``is_fork``: a stranger wrote it, or chose what it is compared with; then less is asked from outside.
    """
    lookups = context.lookups.allowed(policy, is_fork=is_fork)
    return conclude(Fetched(sha, fetch(context, sha)), policy, lookups, corrections)


def fetch(context: Context, sha: str) -> Checkout:
    """Return the tree of exactly that commit as data."""
    with context.forge.tree(sha) as folder:
        return read_checkout(folder)


def read_folder(folder: Path, sha: str, policy: Policy, lookups: Lookups = NO_LOOKUPS) -> Reading:
    """Do the same for a folder that is there already."""
    return conclude(Fetched(sha, read_checkout(folder)), policy, lookups)


def conclude(
    fetched: Fetched, policy: Policy, lookups: Lookups = NO_LOOKUPS, corrections: Corrections = NO_CORRECTIONS
) -> Reading:
    """Return what a tree needs, with a person's corrections over it, and what that costs."""
    analysis = consult(fetched.checkout, lookups)
    if not corrections.is_empty:
        spec, proposed = (correct_spec(each, corrections) for each in (analysis.spec, analysis.proposed))
        analysis = replace(analysis, spec=spec, proposed=proposed)
    return Reading(fetched.sha, analysis.spec, with_cheapest_card(analysis), price(analysis.spec, policy))


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
