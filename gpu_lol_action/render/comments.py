"""Everything the bot says: one function per comment, domain values in, Markdown out.

Handlers call these and nothing else of this package but ``marker`` (to find comments again). Every comment
starts with its marker, has one status mark in its heading, and ends with what is billing now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.leases import Warn
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.priced_change import PricedChange
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest, Repository
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.errors import Explanation, SpecError
from gpu_lol_action.pricing.budget import Spending
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.replies import (
    already_running,
    budget,
    denied,
    dry_run,
    estimate,
    help,  # noqa: A004 - named as the command is
    nothing_to_tear_down,
    output,
    problem,
    shared,
    status,
    sweep_summary,
    synced,
    unshared,
    validated,
)
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import (
    NOTHING_LAUNCHED,
    UNSEEN,
    ReplyTo,
    billing_view,
    environment_marker,
    reply_marker,
)
from gpu_lol_action.render.views_answers import message_view
from gpu_lol_action.render.views_end import ending_view, torn_down_view
from gpu_lol_action.render.views_environment import WorstCase, launching_view, no_capacity_view, ready_view
from gpu_lol_action.render.views_evidence import CodePlace
from gpu_lol_action.render.views_lease import extended_view, warning_view
from gpu_lol_action.render.views_proposal import NO_NOTE, ProposalCase, proposal_view
from gpu_lol_action.render.views_superseded import superseded_view

__all__ = [
    "ReplyTo",
    "already_running",
    "analysis_case",
    "analysis_report",
    "budget",
    "denied",
    "dry_run",
    "ending",
    "estimate",
    "extended",
    "failed",
    "help",
    "internal_error",
    "launching",
    "no_capacity",
    "nothing_to_tear_down",
    "output",
    "problem",
    "proposal",
    "proposal_case",
    "ready",
    "shared",
    "spec_error",
    "status",
    "superseded",
    "sweep_summary",
    "synced",
    "torn_down",
    "unproven",
    "unshared",
    "validated",
    "warning",
]


def proposal(case: ProposalCase) -> str:
    """Return the sticky proposal of a pull request: what this head needs, what it costs, and what changed."""
    return render_comment("proposal", proposal_view(case))


def proposal_case(  # noqa: PLR0913 - keyword-only: a proposal is made from all of these
    *,
    pull_request: PullRequest,
    repository: Repository,
    server_url: str,
    analysis: Analysis,
    ladder: Ladder,
    base_sha: str | None,
    base_analysis: Analysis | None,
    base_ladder: Ladder | None,
    policy: Policy,
    month_usd: Decimal,
    environment: EnvironmentRecord | None,
    spec_yaml: str,
    now: datetime,
    is_installing: bool = False,
    is_level_one: bool = False,
    note: ProposalNote = NO_NOTE,
    run: str = "",
    spec_notice: str = "",
    change: PricedChange | None = None,
    base_problem: str = "",
    what_ifs: tuple[WhatIf, ...] = (),
    spot: Candidate | None = None,
) -> ProposalCase:
    """Return what the sticky proposal of a pull request is made from; ``run`` orders it among other runs' words."""
    place = CodePlace(server_url, pull_request.head_repository or repository.full_name, pull_request.head_sha)
    return ProposalCase(
        marker=_proposal_marker(pull_request, run),
        subject=Safe("PR"),
        place=place,
        analysis=analysis,
        ladder=ladder,
        base_sha=base_sha,
        base_analysis=base_analysis,
        base_ladder=base_ladder,
        policy=policy,
        month_usd=month_usd,
        environment=environment,
        spec_yaml=spec_yaml,
        now=now,
        is_installing=is_installing,
        is_level_one=is_level_one,
        note=note,
        spec_notice=spec_notice,
        change=change,
        base_problem=base_problem,
        what_ifs=what_ifs,
        spot=spot,
    )


def analysis_case(  # noqa: PLR0913 - keyword-only: a proposal is made from all of these
    *,
    analysis: Analysis,
    ladder: Ladder,
    policy: Policy,
    spec_yaml: str,
    sha: str,
    now: datetime,
    base_analysis: Analysis | None = None,
    base_ladder: Ladder | None = None,
    base_sha: str | None = None,
    change: PricedChange | None = None,
    base_problem: str = "",
    what_ifs: tuple[WhatIf, ...] = (),
    spot: Candidate | None = None,
) -> ProposalCase:
    """Return what is said of a folder on disk, compared with a commit where one is given: no pull request, no links."""
    return ProposalCase(
        marker=build_marker("analysis", head=sha[:7]),
        subject=Safe("code"),
        place=CodePlace("", "", sha),
        analysis=analysis,
        ladder=ladder,
        base_sha=base_sha,
        base_analysis=base_analysis,
        base_ladder=base_ladder,
        policy=policy,
        month_usd=None,
        environment=None,
        spec_yaml=spec_yaml,
        now=now,
        idle=NOTHING_LAUNCHED,
        change=change,
        base_problem=base_problem,
        what_ifs=what_ifs,
        spot=spot,
    )


def analysis_report(case: ProposalCase) -> str:
    """Return the proposal for a folder on disk as Markdown."""
    return render_comment("proposal", proposal_view(case))


def launching(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    record: EnvironmentRecord,
    phase: str,
    detail_lines: Sequence[str],
    policy: Policy,  # noqa: ARG001 - the same call for every moment of an environment
    now: datetime,
    worst_case_usd: Decimal,
    worst_case_at: datetime,
    is_swept: bool = True,
) -> str:
    """Return the status comment while a machine is on its way; it is edited in place."""
    worst = WorstCase(worst_case_at, worst_case_usd, is_swept)
    return render_comment("launching", launching_view(record, phase, detail_lines, worst, now))


def ready(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    record: EnvironmentRecord,
    policy: Policy,  # noqa: ARG001 - the same call for every moment of an environment
    now: datetime,
    worst_case_at: datetime,
    repository_name: str,
    head_ref: str,
    notice: Spending | None = None,
) -> str:
    """Return how to log in and what was checked; mentions the requester."""
    return render_comment("ready", ready_view(record, WorstCase(worst_case_at), repository_name, head_ref, now, notice))


def extended(
    *,
    record: EnvironmentRecord,
    before: Lease,
    worst_case_at: datetime | None,
    now: datetime,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return until when a machine runs now, and until when it would have."""
    return render_comment("extended", extended_view(record, before, worst_case_at, now, reply_to))


def warning(*, record: EnvironmentRecord, due: Warn, look: Look | None, now: datetime) -> str:
    """Return that a machine ends soon and what would be lost with it; mentions the requester."""
    return render_comment("warning", warning_view(record, due, look, now))


def torn_down(
    *,
    record: EnvironmentRecord,
    policy: Policy,
    now: datetime,
    pr_usd: Decimal,
    month_usd: Decimal,
    notice: Spending | None = None,
) -> str:
    """Return the certificate: when, by whom or what, the provider's answers, the bill; mentions the requester."""
    return render_comment("torn_down", torn_down_view(record, policy, pr_usd, month_usd, now, notice))


def ending(*, record: EnvironmentRecord, now: datetime) -> str:
    """Return the status comment while the machine is being ended and not yet proven gone."""
    return render_comment("ending", ending_view(record, now))


def unproven(*, record: EnvironmentRecord, now: datetime, why: str) -> str:
    """Return what to do where the end of a machine could not be proven."""
    return render_comment("unproven", ending_view(record, now, why))


def no_capacity(*, record: EnvironmentRecord, policy: Policy, now: datetime) -> str:
    """Return the offers tried with their answers, and what else could be tried."""
    return render_comment("no_capacity", no_capacity_view(record, policy, now))


def failed(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    explanation: Explanation,
    reason_code: str,
    log_tail: str,
    record: EnvironmentRecord | None,
    run_url: str | None,
    now: datetime,
    reply_to: ReplyTo | None = None,
    is_seen: bool = True,
) -> str:
    """Return a failure in the form of house.md section 4, with the end of the (already redacted) log folded.

    ``is_seen`` False: whether a machine runs could not be looked up, and ``record`` is None for that reason.
    """
    marker = reply_marker(reply_to, reason_code) if reply_to or record is None else environment_marker(record)
    view = message_view(
        marker=marker,
        what=explanation.what,
        why=explanation.why,
        fix=explanation.fix,
        log=log_tail,
        reason_code=reason_code,
        run_url=run_url,
        billing=billing_view(record, now) if is_seen else UNSEEN,
    )
    return render_comment("failed", view)


def spec_error(
    *,
    error: SpecError,
    pull_request: PullRequest,
    now: datetime,
    record: EnvironmentRecord | None = None,
    run: str = "",
) -> str:
    """Return the sticky comment where a file of the pull request is wrong at a line: it takes the proposal's place."""
    view = message_view(
        marker=_proposal_marker(pull_request, run),
        what=error.explanation.what,
        is_sentence=False,
        why=error.explanation.why,
        fix=error.explanation.fix,
        place=f"{error.path}:{error.line}" if error.line else error.path,
        reason_code=error.reason_code,
        billing=billing_view(record, now),
    )
    return render_comment("spec_error", view)


def internal_error(
    *,
    run_url: str | None,
    record: EnvironmentRecord | None,
    now: datetime,
    reason_code: str = "internal_error",
    reply_to: ReplyTo | None = None,
    is_seen: bool = True,
) -> str:
    """Return a general sentence for a fault of ours: run link and reason code, never the exception's text."""
    view = message_view(
        marker=reply_marker(reply_to, reason_code),
        what="gpu-lol failed on a fault of its own",
        why="It is not about your code or your command, and the run log has the details.",
        fix="Try again; if it stays, report it with the run log.\n/gpu-lol status",
        reason_code=reason_code,
        run_url=run_url,
        billing=billing_view(record, now) if is_seen else UNSEEN,
    )
    return render_comment("internal_error", view)


def superseded(*, pull_request: int, url: str) -> str:
    """Return what stands in a second proposal comment once there is a first one: where that is."""
    return render_comment("superseded", superseded_view(pull_request, url))


def _proposal_marker(pull_request: PullRequest, run: str = "") -> Safe:
    return build_marker("proposal", pr=pull_request.number, head=pull_request.head_sha[:7], run=run)
