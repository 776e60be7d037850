"""Read one commit as data and say what it needs: the way of every command that looks at code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_lol_action.analysis.calibrated import calibrated
from gpu_lol_action.analysis.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.lagging import carried
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.corrected_spec import correct_spec
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Command, PullRequest
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import GpuLolError, UserError
from gpu_lol_action.handlers.askable import NO_LOOKUPS, Lookups
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.kept_model import remembering
from gpu_lol_action.handlers.lookups import consult
from gpu_lol_action.handlers.measured import measured_runs
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
    return conclude(Fetched(sha, fetch(context, sha)), policy, lookups, corrections, measured=measured_runs(context))


def fetch(context: Context, sha: str) -> Checkout:
    """Return the tree of exactly that commit as data."""
    with context.forge.tree(sha) as folder:
        return read_checkout(folder)


def read_folder(
    folder: Path, sha: str, policy: Policy, lookups: Lookups = NO_LOOKUPS, before: Analysis | None = None
) -> Reading:
    """Do the same for a folder that is there already. ``before`` is the analysis of what a change started from."""
    return conclude(Fetched(sha, read_checkout(folder)), policy, lookups, before=before)


def read_change(
    context: Context, pull_request: PullRequest, policy: Policy, *, is_fork: bool, note: ProposalNote
) -> Reading:
    """Read a pull request's head as its proposal does: where documentation is weighed, beside what the change started from.

    ``note``: what people have set for it, and what a language model answered when the proposal was made.
    """
    sha = pull_request.head_sha
    lookups = remembering(context.lookups.allowed(policy, is_fork=is_fork), note.answers.at(sha))
    checkout = fetch(context, sha)
    analysis = consult(checkout, lookups)
    if analysis.breakdown is not None and analysis.breakdown.weighed is not None:
        base = fetch_base(context, pull_request)
        before = _consulted(context, base, lookups) if base is not None else None
        analysis = carried(analysis, before) if before is not None else analysis
    analysis = calibrated(analysis, measured_runs(context), checkout.spec_text)
    return _concluded(sha, analysis, policy, note.corrections)


def fetch_base(context: Context, pull_request: PullRequest) -> Fetched | None:
    """Read what the pull request is compared with; a base that cannot be read leaves the comparison out."""
    try:
        sha = context.forge.merge_base(pull_request.base_sha, pull_request.head_sha)
        return Fetched(sha, fetch(context, sha))
    except GpuLolError as error:
        context.progress.line(f"no comparison with the base: {error.explanation.what}")
        return None


def _consulted(context: Context, fetched: Fetched, lookups: Lookups) -> Analysis | None:
    try:
        return consult(fetched.checkout, lookups)
    except GpuLolError as error:
        context.progress.line(f"no comparison with the base: {error.explanation.what}")
        return None


def conclude(
    fetched: Fetched,
    policy: Policy,
    lookups: Lookups = NO_LOOKUPS,
    corrections: Corrections = NO_CORRECTIONS,
    before: Analysis | None = None,
    measured: Sequence[MeasuredRun] = (),
) -> Reading:
    """Return what a tree needs, with a person's corrections over it, and what that costs.

    ``before`` is the analysis of what the change started from, ``measured`` what runs of this repository used.
    """
    analysis = consult(fetched.checkout, lookups)
    analysis = carried(analysis, before) if before is not None else analysis
    analysis = calibrated(analysis, measured, fetched.checkout.spec_text)
    return _concluded(fetched.sha, analysis, policy, corrections)


def _concluded(sha: str, analysis: Analysis, policy: Policy, corrections: Corrections) -> Reading:
    if not corrections.is_empty:
        spec, proposed = (correct_spec(each, corrections) for each in (analysis.spec, analysis.proposed))
        analysis = replace(analysis, spec=spec, proposed=proposed)
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
