"""Everything the bot says: one function per comment, domain values in, Markdown out.

Handlers call these and nothing else of this package but ``marker`` (to find comments again). Every comment
starts with its marker, has one status mark in its heading, and ends with what is billing now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.leases import Warn
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.errors import Explanation
from gpu_lol_action.pricing.budget import Spending
from gpu_lol_action.render.analysis_report import analysis_case, analysis_report
from gpu_lol_action.render.proposals import proposal, proposal_case, spec_error, superseded
from gpu_lol_action.render.replies import (
    already_running,
    budget,
    denied,
    dry_run,
    estimate,
    help,  # noqa: A004 - named as the command is
    nothing_to_tear_down,
    offers,
    output,
    problem,
    shared,
    smoke,
    smoke_issue,
    smoke_issue_news,
    snapshot,
    status,
    sweep_summary,
    synced,
    unshared,
    validated,
)
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import UNSEEN, ReplyTo, billing_view, environment_marker, reply_marker
from gpu_lol_action.render.views_answers import message_view
from gpu_lol_action.render.views_end import ending_view, torn_down_view
from gpu_lol_action.render.views_environment import WorstCase, launching_view, no_capacity_view, ready_view
from gpu_lol_action.render.views_lease import extended_view, warning_view
from gpu_lol_action.render.views_sealed import Sealed, sealed_view

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
    "offers",
    "output",
    "problem",
    "proposal",
    "proposal_case",
    "ready",
    "shared",
    "smoke",
    "smoke_issue",
    "smoke_issue_news",
    "snapshot",
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
    sealed: Sealed | None = None,
) -> str:
    """Return how to log in and what was checked; mentions the requester."""
    view = ready_view(record, WorstCase(worst_case_at), repository_name, head_ref, now, notice)
    return render_comment("ready", replace(view, sealed=sealed_view(sealed)))


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
