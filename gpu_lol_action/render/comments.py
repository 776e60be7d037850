"""Everything the bot says: one function per comment, domain values in, Markdown out.

Handlers call these and nothing else of this package but ``marker`` (to find comments again). Every comment
starts with its marker, has one status mark in its heading, and ends with what is billing now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.commands import DoorKind
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Deny, ParseProblem, PullRequest, Repository
from gpu_lol_action.errors import Explanation, SpecError
from gpu_lol_action.render.limits import fit_comment
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.templating import fill
from gpu_lol_action.render.views import (
    NOTHING_LAUNCHED,
    NOTHING_RUNNING,
    ReplyTo,
    billing_view,
    environment_marker,
    reply_marker,
    total_billing_view,
)
from gpu_lol_action.render.views_answers import (
    dry_run_view,
    help_view,
    message_view,
    status_view,
    sweep_view,
)
from gpu_lol_action.render.views_environment import (
    WorstCase,
    ending_view,
    launching_view,
    no_capacity_view,
    ready_view,
    running_view,
    torn_down_view,
)
from gpu_lol_action.render.views_proposal import CodePlace, ProposalCase, proposal_view

__all__ = ["ReplyTo"]


def proposal(  # noqa: PLR0913 - keyword-only: a proposal is made from all of these
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
) -> str:
    """Return the sticky proposal of a pull request: what this head needs, what it costs, and what changed."""
    place = CodePlace(server_url, pull_request.head_repository or repository.full_name, pull_request.head_sha)
    case = ProposalCase(
        marker=_proposal_marker(pull_request),
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
    )
    return _render("proposal", proposal_view(case))


def analysis_report(
    *, analysis: Analysis, ladder: Ladder, policy: Policy, spec_yaml: str, sha: str, now: datetime
) -> str:
    """Return the proposal for a folder on disk: no pull request, no base, no links."""
    case = ProposalCase(
        marker=build_marker("analysis", head=sha[:7]),
        subject=Safe("code"),
        place=CodePlace("", "", sha),
        analysis=analysis,
        ladder=ladder,
        base_sha=None,
        base_analysis=None,
        base_ladder=None,
        policy=policy,
        month_usd=None,
        environment=None,
        spec_yaml=spec_yaml,
        now=now,
        idle=NOTHING_LAUNCHED,
    )
    return _render("proposal", proposal_view(case))


def launching(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    record: EnvironmentRecord,
    phase: str,
    detail_lines: Sequence[str],
    policy: Policy,  # noqa: ARG001 - the same call for every moment of an environment
    now: datetime,
    worst_case_usd: Decimal,
    worst_case_at: datetime,
) -> str:
    """Return the status comment while a machine is on its way; it is edited in place."""
    return _render("launching", launching_view(record, phase, detail_lines, WorstCase(worst_case_at, worst_case_usd), now))


def ready(
    *,
    record: EnvironmentRecord,
    policy: Policy,  # noqa: ARG001 - the same call for every moment of an environment
    now: datetime,
    worst_case_at: datetime,
    repository_name: str,
    head_ref: str,
) -> str:
    """Return how to log in and what was checked; mentions the requester."""
    return _render("ready", ready_view(record, WorstCase(worst_case_at), repository_name, head_ref, now))


def already_running(*, record: EnvironmentRecord, now: datetime, reply_to: ReplyTo | None = None) -> str:
    """Return the answer to ``up`` where this PR and profile have a machine already."""
    return _render("already_running", running_view(record, reply_marker(reply_to, "already_running"), now))


def status(
    *,
    entries: Sequence[EnvironmentRecord],
    unreadable: Sequence[str],
    now: datetime,
    gpu_use: Mapping[str, str] | None = None,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return every environment that may cost money; ``gpu_use`` maps an environment's name to a few words."""
    return _render("status", status_view(entries, unreadable, now, gpu_use or {}, reply_marker(reply_to, "status")))


def torn_down(*, record: EnvironmentRecord, policy: Policy, now: datetime, pr_usd: Decimal, month_usd: Decimal) -> str:
    """Return the certificate: when, by whom or what, the provider's answers, the bill; mentions the requester."""
    return _render("torn_down", torn_down_view(record, policy, pr_usd, month_usd, now))


def ending(*, record: EnvironmentRecord, now: datetime) -> str:
    """Return the status comment while the machine is being ended and not yet proven gone."""
    return _render("ending", ending_view(record, now))


def unproven(*, record: EnvironmentRecord, now: datetime, why: str) -> str:
    """Return what to do where the end of a machine could not be proven."""
    return _render("unproven", ending_view(record, now, why))


def no_capacity(*, record: EnvironmentRecord, policy: Policy, now: datetime) -> str:
    """Return the offers tried with their answers, and what else could be tried."""
    return _render("no_capacity", no_capacity_view(record, policy, now))


def denied(
    *, reason: Deny, command_line: str, record: EnvironmentRecord | None, now: datetime, reply_to: ReplyTo | None = None
) -> str:
    """Return a gate's refusal: what, why, and what to do instead."""
    view = message_view(
        marker=reply_marker(reply_to, reason.reason_code),
        what=reason.what,
        is_sentence=False,
        why=reason.why,
        fix=reason.fix,
        command_line=command_line,
        reason_code=reason.reason_code,
        billing=billing_view(record, now),
    )
    return _render("denied", view)


def failed(  # noqa: PLR0913 - keyword-only, fixed with the handlers
    *,
    explanation: Explanation,
    reason_code: str,
    log_tail: str,
    record: EnvironmentRecord | None,
    run_url: str | None,
    now: datetime,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return a failure in the form of house.md section 4, with the end of the (already redacted) log folded."""
    marker = reply_marker(reply_to, reason_code) if reply_to or record is None else environment_marker(record)
    view = message_view(
        marker=marker,
        what=explanation.what,
        why=explanation.why,
        fix=explanation.fix,
        log=log_tail,
        reason_code=reason_code,
        run_url=run_url,
        billing=billing_view(record, now),
    )
    return _render("failed", view)


def spec_error(*, error: SpecError, pull_request: PullRequest, now: datetime, record: EnvironmentRecord | None = None) -> str:
    """Return the sticky comment where a file of the pull request is wrong at a line: it takes the proposal's place."""
    view = message_view(
        marker=_proposal_marker(pull_request),
        what=error.explanation.what,
        is_sentence=False,
        why=error.explanation.why,
        fix=error.explanation.fix,
        place=f"{error.path}:{error.line}" if error.line else error.path,
        reason_code=error.reason_code,
        billing=billing_view(record, now),
    )
    return _render("spec_error", view)


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
    return _render("problem", view)


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
    return _render("help", help_view(topic, policy or Policy(), door, marker, billing))


def nothing_to_tear_down(*, now: datetime, pull_request: int | None = None, reply_to: ReplyTo | None = None) -> str:
    """Return the answer to ``down`` where nothing that was asked about may cost money."""
    where = f" for PR {pull_request}" if pull_request is not None else ""
    view = message_view(
        marker=reply_marker(reply_to, "nothing_to_tear_down"),
        what=f"Nothing to tear down: no machine is on record{where}",
        billing=total_billing_view((), now, none=NOTHING_RUNNING),
    )
    return _render("nothing_to_tear_down", view)


def dry_run(  # noqa: PLR0913 - keyword-only values of one command
    *,
    ladder: Ladder,
    policy: Policy,
    now: datetime,
    month_usd: Decimal,
    lease: timedelta,
    worst_case_usd: Decimal,
    worst_case_at: datetime,
    refusals: Sequence[str] = (),
    record: EnvironmentRecord | None = None,
    reply_to: ReplyTo | None = None,
) -> str:
    """Return what ``up`` would do and cost; ``refusals`` are sentences of the gates that would stop it."""
    view = dry_run_view(
        ladder=ladder,
        policy=policy,
        lease=lease,
        month_usd=month_usd,
        worst=WorstCase(worst_case_at, worst_case_usd),
        refusals=refusals,
        now=now,
        marker=reply_marker(reply_to, "dry_run"),
        billing=billing_view(record, now),
    )
    return _render("dry_run", view)


def sweep_summary(
    *,
    lines: Sequence[tuple[str, str, str]],
    open_records: Sequence[EnvironmentRecord],
    now: datetime,
    is_dry_run: bool = False,
) -> str:
    """Return the job summary of a sweep from lines of name, verdict and reason."""
    return _render("sweep_summary", sweep_view(lines, open_records, now, is_dry_run=is_dry_run, marker=build_marker("sweep")))


def internal_error(
    *,
    run_url: str | None,
    record: EnvironmentRecord | None,
    now: datetime,
    reason_code: str = "internal_error",
    reply_to: ReplyTo | None = None,
) -> str:
    """Return a general sentence for a fault of ours: run link and reason code, never the exception's text."""
    view = message_view(
        marker=reply_marker(reply_to, reason_code),
        what="gpu-lol failed on a fault of its own",
        why="It is not about your code or your command, and the run log has the details.",
        fix="Try again; if it stays, report it with the run log.\n/gpu-lol status",
        reason_code=reason_code,
        run_url=run_url,
        billing=billing_view(record, now),
    )
    return _render("internal_error", view)


def _proposal_marker(pull_request: PullRequest) -> Safe:
    return build_marker("proposal", pr=pull_request.number, head=pull_request.head_sha[:7])


def _render(template: str, view: object) -> str:
    return fit_comment(fill(f"comments/{template}.md.j2", view=view))
