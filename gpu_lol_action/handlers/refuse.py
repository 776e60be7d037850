"""Say no, or that something went wrong: each answer is posted once and returned for the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.request import CommentCreated, Deny, Outcome, ParseProblem
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.render import comments
from gpu_lol_action.render.views import ReplyTo


def tell_denial(context: Context, denial: Deny, command_line: str, event: CommentCreated) -> str:
    """Answer a command that a gate refused."""
    number = event.pull_request_number
    body = comments.denied(
        reason=denial,
        command_line=command_line,
        record=None,
        now=context.clock.now(),
        reply_to=ReplyTo(number, event.comment_id),
    )
    answers.reply(context, number, body)
    return body


def deny(
    context: Context,
    order: Order,
    denial: Deny,
    record: EnvironmentRecord | None = None,
    beside: Sequence[EnvironmentRecord] = (),
) -> Outcome:
    """Answer an order that a handler refuses, and return how it ended. ``record`` and what is ``beside`` it run all the same."""
    body = comments.denied(
        reason=denial,
        command_line=order.command.line,
        record=record,
        now=context.clock.now(),
        reply_to=order.reply_to,
        beside=beside,
    )
    answers.reply(context, order.pull_request.number, body)
    return Outcome("denied", denial.reason_code, text=body)


def tell_problem(context: Context, problem: ParseProblem, event: CommentCreated) -> str:
    """Answer a command that cannot be understood, with the nearest valid words."""
    number = event.pull_request_number
    reply_to = ReplyTo(number, event.comment_id)
    body = comments.problem(problem=problem, now=context.clock.now(), reply_to=reply_to)
    answers.reply(context, number, body)
    return body


def tell_error(context: Context, error: GpuLolError, number: int | None) -> str:
    """Tell about an error that a person can act on, unless a handler has told already."""
    running = _running(context, number)
    body = comments.failed(
        explanation=error.explanation,
        reason_code=error.reason_code,
        log_tail="",
        record=running.record,
        is_seen=running.is_seen,
        run_url=context.settings.run_url,
        now=context.clock.now(),
    )
    if number is not None and not error.is_told:
        answers.reply(context, number, body)
    return body


@dataclass(frozen=True, slots=True)
class _Running:
    """A machine of this pull request that is billing whatever went wrong; ``is_seen`` False: nobody could look."""

    record: EnvironmentRecord | None = None
    is_seen: bool = True


def _running(context: Context, number: int | None) -> _Running:
    if number is None:
        return _Running()
    try:
        return _Running(next((r for r in answers.open_records(context) if r.pull_request == number), None))
    except GpuLolError:
        return _Running(is_seen=False)


def tell_internal_error(context: Context, error: BaseException, number: int | None) -> str:
    """Tell that we failed, without what failed: the log has that, for us."""
    context.progress.failure(error)
    running = _running(context, number)
    body = comments.internal_error(
        record=running.record, is_seen=running.is_seen, run_url=context.settings.run_url, now=context.clock.now()
    )
    if number is not None:
        answers.reply(context, number, body)
    return body


def nothing_fits(ladder: Ladder) -> Deny:
    """Return that no offer does, with the one that comes nearest."""
    need = ladder.requirement
    nearest, first = ladder.nearest, next(iter(ladder.rejected), None)
    said = ""
    if nearest is not None:
        offer = nearest.offer
        said = f"{len(ladder.rejected)} offers were looked at; the nearest is {offer.label} on {offer.cloud}: {nearest.reason}."
    elif first is not None:
        said = f"{len(ladder.rejected)} offers were looked at; the first says: {first.reason}."
    card = f" on {need.accelerator}" if need.accelerator else ""
    return Deny(
        "nothing_fits",
        f"no machine that may be rented offers {need.gpu_count} × {need.memory_gib_per_gpu:.0f} GB{card}",
        said,
        "/gpu-lol analyze",
    )
