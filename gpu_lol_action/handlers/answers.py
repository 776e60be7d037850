"""Post what is to be said: replies, the environment's own comment, certificates; never lose a text."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry, Survey
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Closing, Posted
from gpu_lol_action.errors import Door, GpuLolError
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.teardown import Ended, Unproven, month_usd
from gpu_lol_action.pricing.budget import Spending, is_notice_due, month_start, spending
from gpu_lol_action.render import comments
from gpu_lol_action.render.limits import fit_comment

_EVER = datetime.min.replace(tzinfo=timezone.utc)


def reply(context: Context, number: int, body: str) -> Posted | None:
    """Post an answer. A refusal is no reason to fail: the job summary has every text, and a warning says so.

    What a schedule began stands in no conversation: the summary has it.
    """
    if not number and context.settings.door is Door.JOB:
        return None
    try:
        return context.forge.post_comment(number, fitted(context, body))
    except GpuLolError as error:
        warn_unposted(context, error)
        return None


def close_command(
    context: Context, order: Order, status: tuple[int | None, str], body: str
) -> tuple[Posted | None, bool]:
    """Post the answer that closes a launch, with the last text of the status comment (its id, None where there is none).

    Return the answer, and whether the reaction at the command goes without saying: it came with the rest.
    """
    status_id, last = status
    number = order.pull_request.number
    if order.closes is None or status_id is None:
        posted = reply(context, number, body)
        edit(context, status_id, last)
        return posted, False
    closing = Closing(number, fitted(context, body), order.closes, "rocket", status_id, fitted(context, last))
    try:
        return context.forge.close_command(closing), True
    except GpuLolError as error:
        warn_unposted(context, error)
        edit(context, status_id, last)
        return None, False


def fitted(context: Context, body: str) -> str:
    """Return a text as it may be posted: nothing secret in it, in the size that GitHub takes; the summary has it whole."""
    return fit_comment(context.redact(body), overflow_url=context.settings.run_url)


def warn_unposted(context: Context, error: GpuLolError) -> None:
    """Say where the text of a comment is that could not be posted, and why it could not."""
    what = error.explanation.what.rstrip(".")
    fix = f" {error.explanation.fix}" if error.explanation.fix else ""
    context.progress.warn(f"A comment could not be posted ({what}); its text is in the job summary.{fix}")


def edit(context: Context, comment_id: int | None, body: str) -> None:
    """Edit a comment in place; one that is gone is no reason to stop what it reports on."""
    if comment_id is None:
        return
    try:
        context.forge.edit_comment(comment_id, fitted(context, body))
    except GpuLolError as error:
        context.progress.line(f"the status comment could not be edited: {error.explanation.what}")


def open_records(context: Context) -> tuple[EnvironmentRecord, ...]:
    """Return every record of this repository behind which a machine may run."""
    return context.ledger.survey().open_records


def pull_request_usd(survey: Survey, record: EnvironmentRecord, now: datetime) -> Decimal:
    """Return what this record's pull request has cost: every bill of its environments, and what runs so far."""
    records = [each for each in survey.records if each.pull_request == record.pull_request]
    # A name that was claimed again shows its newest life alone; the ledger has the bills of all.
    billed = survey.bills_usd(_EVER, {each.name for each in records})
    return sum((each.cost_so_far_usd(now) for each in records if each.is_open), billed)


def certificate(context: Context, end: Ended | Unproven, policy: Policy) -> str:
    """Return the teardown certificate, or the honest statement that the end is not proven."""
    record, now = end.entry.record, context.clock.now()
    if isinstance(end, Unproven):
        return comments.unproven(record=record, now=now, why=end.why)
    try:
        survey = context.ledger.survey()
    except GpuLolError as error:
        # The machine is gone all the same; only the totals are missing.
        context.progress.line(f"the totals could not be read: {error.explanation.what}")
        return comments.ending(record=record, now=now)
    pr_usd, spent_usd = pull_request_usd(survey, record, now), month_usd(survey, now)
    notice = budget_notice(survey, policy, now)
    if notice is not None and not _noted(context, end.entry):
        notice = None
    return comments.torn_down(record=record, policy=policy, now=now, pr_usd=pr_usd, month_usd=spent_usd, notice=notice)


def budget_notice(survey: Survey, policy: Policy, now: datetime) -> Spending | None:
    """Return the month where most of its budget is gone and no answer has said so yet."""
    month = spending(survey.bills_usd(month_start(now)), survey.open_records, policy, now)
    return month if is_notice_due(month, survey.records, now) else None


def _noted(context: Context, entry: Entry) -> bool:
    """Write down that it is said now; where that fails, the next answer says it."""
    try:
        context.ledger.update(entry, replace(entry.record, budget_noticed_at=context.clock.now()))
    except GpuLolError as error:
        context.progress.line(f"the budget's notice waits: {error.explanation.what}")
        return False
    return True
