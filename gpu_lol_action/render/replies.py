"""Answers to a command: one function per comment, like ``comments``, which offers them too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.environment import Check, EnvironmentRecord
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Deny, ParseProblem
from gpu_lol_action.launch.command import Output
from gpu_lol_action.pricing.month import MonthReport
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import (
    NOTHING_LAUNCHED,
    NOTHING_RUNNING,
    ReplyTo,
    billing_view,
    reply_marker,
    total_billing_view,
)
from gpu_lol_action.render.views_access import shared_view, unshared_view
from gpu_lol_action.render.views_answers import dry_run_view, message_view, status_view, sweep_view
from gpu_lol_action.render.views_budget import budget_view
from gpu_lol_action.render.views_environment import WorstCase, running_view
from gpu_lol_action.render.views_estimate import EstimateCase, estimate_view
from gpu_lol_action.render.views_help import help_view
from gpu_lol_action.render.views_offers import OffersCase, offers_view
from gpu_lol_action.render.views_output import NOTHING_SAID, Said, output_view
from gpu_lol_action.render.views_sealed import Sealed, sealed_view
from gpu_lol_action.render.views_smoke import SmokeCase, smoke_view
from gpu_lol_action.render.views_smoke_issue import SmokeIssueCase, smoke_issue_view
from gpu_lol_action.render.views_snapshot import SnapshotCase, snapshot_view
from gpu_lol_action.render.views_synced import synced_view
from gpu_lol_action.render.views_validated import validated_view


def smoke(case: SmokeCase) -> str:
    """Return how a smoke test ended, machine by machine."""
    return render_comment("smoke", smoke_view(case))


def smoke_issue(case: SmokeIssueCase) -> str:
    """Return the text of the one issue about a branch's smoke test."""
    return render_comment("smoke_issue", smoke_issue_view(case))


def smoke_issue_news(case: SmokeIssueCase) -> str:
    """Return the comment that tells those who follow the issue what is new."""
    return render_comment("smoke_issue_news", smoke_issue_view(case, "smoke_issue_news"))


def already_running(
    *, record: EnvironmentRecord, now: datetime, reply_to: ReplyTo | None = None, another: str = ""
) -> str:
    """Return the answer to ``up`` where this PR and profile have a machine already; ``another`` is the project that it is not of."""
    view = running_view(record, reply_marker(reply_to, "already_running"), now, another)
    return render_comment("already_running", view)


def status(
    *,
    entries: Sequence[EnvironmentRecord],
    unreadable: Sequence[str],
    now: datetime,
    gpu_use: Mapping[str, str] | None = None,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return every environment that may cost money; ``gpu_use`` maps an environment's name to a few words."""
    return render_comment(
        "status", status_view(entries, unreadable, now, gpu_use or {}, reply_marker(reply_to, "status"))
    )


def budget(month: MonthReport, *, now: datetime, reply_to: ReplyTo | None = None) -> str:
    """Return what the month has cost so far, as bars by person and by pull request."""
    billing = total_billing_view(month.running, now, len(month.unreadable))
    return render_comment("budget", budget_view(month, reply_marker(reply_to, "budget"), billing))


def shared(  # noqa: PLR0913 - keyword-only, and each is one line of the answer
    *,
    record: EnvironmentRecord,
    login: str,
    keys: int,
    refused: Sequence[str],
    now: datetime,
    reply_to: ReplyTo | None = None,
    sealed: Sealed | None = None,
) -> str:
    """Return that one more person can log in, and how."""
    view = shared_view(record, login, keys, refused, now, reply_to)
    return render_comment("shared", replace(view, sealed=sealed_view(sealed)))


def unshared(*, record: EnvironmentRecord, login: str, now: datetime, reply_to: ReplyTo | None = None) -> str:
    """Return that a person's keys are gone, and what that does not undo."""
    return render_comment("unshared", unshared_view(record, login, now, reply_to))


def output(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    record: EnvironmentRecord,
    command: str,
    text: str,
    found: Output,
    now: datetime,
    reply_to: ReplyTo | None = None,
    said: Said = NOTHING_SAID,
) -> str:
    """Return what a command on the machine, or a log of it, has said."""
    return render_comment("output", output_view(record, command, text, found, now, reply_to, said=said))


def validated(
    *,
    record: EnvironmentRecord,
    checks: Sequence[Check],
    before: Sequence[Check],
    now: datetime,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return what the checks of a machine in use found, and which of them passed before."""
    return render_comment("validated", validated_view(record, checks, before, now, reply_to))


def synced(*, record: EnvironmentRecord, before: str, now: datetime, reply_to: ReplyTo | None = None) -> str:
    """Return which commit a running machine has now."""
    return render_comment("synced", synced_view(record, before, now, reply_to))


def snapshot(case: SnapshotCase) -> str:
    """Return a running machine as a spec: what is new of it, and the file."""
    return render_comment("snapshot", snapshot_view(case))


def denied(
    *,
    reason: Deny,
    command_line: str,
    record: EnvironmentRecord | None,
    now: datetime,
    reply_to: ReplyTo | None = None,
    beside: Sequence[EnvironmentRecord] = (),
) -> str:
    """Return a gate's refusal: what, why, and what to do instead; ``beside`` are machines that run as well as the one of ``record``."""
    view = message_view(
        marker=reply_marker(reply_to, reason.reason_code),
        what=reason.what,
        is_sentence=False,
        why=reason.why,
        fix=reason.fix,
        command_line=command_line,
        reason_code=reason.reason_code,
        billing=total_billing_view([record, *beside], now) if record and beside else billing_view(record, now),
    )
    return render_comment("denied", view)


def problem(
    *, problem: ParseProblem, now: datetime, record: EnvironmentRecord | None = None, reply_to: ReplyTo | None = None
) -> str:
    """Return what could not be understood in a command, with the nearest valid words."""
    view = message_view(
        marker=reply_marker(reply_to, problem.reason_code),
        what=problem.what,
        command_line=problem.line,
        suggestions=problem.did_you_mean,
        fix=f"/gpu-lol help {problem.command}" if problem.command else "/gpu-lol help",
        reason_code=problem.reason_code,
        billing=billing_view(record, now),
    )
    return render_comment("problem", view)


def help(  # noqa: A001 - named as the command is
    *,
    topic: str | None,
    open_records: Sequence[EnvironmentRecord],
    now: datetime,
    policy: Policy | None = None,
    door: DoorKind = DoorKind.COMMENT,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return the commands of this door from the table, or one of them, with who may give it."""
    marker = reply_marker(reply_to, "help")
    billing = total_billing_view(open_records, now, none=NOTHING_RUNNING)
    return render_comment("help", help_view(topic, policy or Policy(), door, marker, billing))


def estimate(
    case: EstimateCase, *, open_records: Sequence[EnvironmentRecord] = (), reply_to: ReplyTo | None = None
) -> str:
    """Return the memory that a described run needs, its terms as bars, and the cards that have it."""
    billing = total_billing_view(open_records, case.now, none=NOTHING_LAUNCHED)
    return render_comment("estimate", estimate_view(case, reply_marker(reply_to, "estimate"), billing))


def offers(case: OffersCase, *, open_records: Sequence[EnvironmentRecord] = (), reply_to: ReplyTo | None = None) -> str:
    """Return what can be rented, cheapest first, with what is in stock where that was asked for."""
    billing = total_billing_view(open_records, case.now, none=NOTHING_LAUNCHED)
    return render_comment("offers", offers_view(case, reply_marker(reply_to, "offers"), billing))


def nothing_to_tear_down(*, now: datetime, pull_request: int | None = None, reply_to: ReplyTo | None = None) -> str:
    """Return the answer to ``down`` where nothing that was asked about may cost money."""
    where = f" for PR {pull_request}" if pull_request is not None else ""
    view = message_view(
        marker=reply_marker(reply_to, "nothing_to_tear_down"),
        what=f"Nothing to tear down: no machine is on record{where}",
        billing=total_billing_view((), now, none=NOTHING_RUNNING),
    )
    return render_comment("nothing_to_tear_down", view)


def dry_run(  # noqa: PLR0913 - keyword-only values of one command
    *,
    ladder: Ladder,
    policy: Policy,
    now: datetime,
    month_usd: Decimal,
    lease: timedelta,
    worst_case_usd: Decimal,
    worst_case_at: datetime,
    is_swept: bool = True,
    refusals: Sequence[str] = (),
    record: EnvironmentRecord | None = None,
    reply_to: ReplyTo | None = None,
    project: str = "",
) -> str:
    """Return what ``up`` would do and cost; ``refusals`` are sentences of the gates that would stop it."""
    view = dry_run_view(
        ladder=ladder,
        policy=policy,
        lease=lease,
        month_usd=month_usd,
        worst=WorstCase(worst_case_at, worst_case_usd, is_swept),
        refusals=refusals,
        now=now,
        marker=reply_marker(reply_to, "dry_run"),
        billing=billing_view(record, now),
        project=project,
    )
    return render_comment("dry_run", view)


def sweep_summary(
    *,
    lines: Sequence[tuple[str, str, str]],
    open_records: Sequence[EnvironmentRecord],
    now: datetime,
    is_dry_run: bool = False,
) -> str:
    """Return the job summary of a sweep from lines of name, verdict and reason."""
    return render_comment(
        "sweep_summary", sweep_view(lines, open_records, now, is_dry_run=is_dry_run, marker=build_marker("sweep"))
    )
