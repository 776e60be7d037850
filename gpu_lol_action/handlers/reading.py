"""Read one commit as data and say what it needs: the way of every command that looks at code."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.answer.calibrated import calibrated
from gpu_lol_action.analysis.answer.lagging import carried, may_be_carried
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.corrections import NO_CORRECTIONS, Corrections
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.askable import Lookups, may_ask_llm
from gpu_lol_action.handlers.chosen_project import fetch
from gpu_lol_action.handlers.concluding import Fetched, Reading, conclude, concluded
from gpu_lol_action.handlers.consulting import consult
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.kept_model import remembering
from gpu_lol_action.handlers.measured import measured_runs


def read_commit(
    context: Context, sha: str, policy: Policy, *, is_fork: bool, corrections: Corrections = NO_CORRECTIONS
) -> Reading:
    """Read the tree of exactly that commit and price it. Raises SpecError where its `.gpu-lol.yaml` is invalid.

    ``is_fork``: a stranger wrote it, or chose what it is compared with; then less is asked from outside.
    """
    lookups = context.lookups.allowed(policy, is_fork=is_fork)
    return conclude(
        Fetched(sha, fetch(context, sha, policy)), policy, lookups, corrections, measured=measured_runs(context)
    )


def read_change(
    context: Context,
    pull_request: PullRequest,
    policy: Policy,
    *,
    is_fork: bool,
    note: ProposalNote,
    spec_text: str | None = None,
) -> Reading:
    """Read a pull request's head as its proposal does: beside what the change started from.

    ``policy`` names no project but the one that is meant. ``note``: what people have set for it, and what a language model answered
    when the proposal was made. ``spec_text`` takes the place of the file at the head.
    """
    sha = pull_request.head_sha
    head = fetch(context, sha, policy)
    asked = context.lookups.allowed(policy, is_fork=is_fork)
    lookups = remembering(asked, note.answers.at(sha), is_allowed=may_ask_llm(policy, is_fork=is_fork))
    if spec_text is not None:
        head = replace(head, spec_text=spec_text)
    analysis = consult(head, lookups)
    if may_be_carried(analysis):
        base = fetch_base(context, pull_request, policy, head)
        before = _consulted(context, base, lookups) if base is not None else None
        analysis = carried(analysis, before, head.spec_text) if before is not None else analysis
    analysis = calibrated(analysis, measured_runs(context), head.spec_text)
    return replace(concluded(sha, analysis, policy, note.corrections, lookups), spec_text=head.spec_text)


def read_run(
    context: Context, pull_request: PullRequest, policy: Policy, *, is_fork: bool, name: str
) -> Reading | None:
    """Read a pull request's head with the run of that name in place of the first; None where it has none.

    What people have set was set for the first run, and is left out.
    """
    sha = pull_request.head_sha
    head = fetch(context, sha, policy)
    lookups = context.lookups.allowed(policy, is_fork=is_fork)
    analysis = consult(head, lookups, name)
    if analysis.first is None or analysis.first.name != name:
        return None
    analysis = calibrated(analysis, measured_runs(context), head.spec_text)
    return replace(concluded(sha, analysis, policy, NO_CORRECTIONS, lookups), spec_text=head.spec_text)


def fetch_base(context: Context, pull_request: PullRequest, policy: Policy, head: Checkout) -> Fetched | None:
    """Read what the pull request is compared with; a base that cannot be read leaves the comparison out."""
    try:
        sha = context.forge.merge_base(pull_request.base_sha, pull_request.head_sha)
        return Fetched(sha, fetch(context, sha, policy, head))
    except GpuLolError as error:
        context.progress.line(f"no comparison with the base: {error.explanation.what}")
        return None


def _consulted(context: Context, fetched: Fetched, lookups: Lookups) -> Analysis | None:
    try:
        return consult(fetched.checkout, lookups)
    except GpuLolError as error:
        context.progress.line(f"no comparison with the base: {error.explanation.what}")
        return None
