"""Tell how a smoke test ended: in the book, in the answer, and to whatever reads the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun, SmokeTest
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.render import comments
from gpu_lol_action.render.views_smoke import SmokeCase

if TYPE_CHECKING:
    from gpu_lol_action.handlers.smoke_cell import CellEnd

REASONS = {
    SmokeResult.PASSED: "smoke_passed",
    SmokeResult.FAILED: "smoke_failed",
    SmokeResult.NOT_RUN: "smoke_not_run",
}


def report_smoke(context: Context, order: Order, test: SmokeTest, ends: Sequence[CellEnd]) -> Outcome:
    """Write the runs into the branch's history, say them, and return the outcome that the door's exit status follows."""
    runs = tuple(end.run for end in ends)
    history = _booked(context, order, runs)
    body = comments.smoke(
        SmokeCase(
            ref=order.pull_request.head_ref,
            test=test,
            runs=runs,
            history=history,
            records=tuple(end.record for end in ends if end.record is not None),
            now=context.clock.now(),
            reply_to=order.reply_to,
            is_dry_run=order.command.is_dry_run,
        )
    )
    answers.reply(context, order.pull_request.number, body)
    whole = overall(runs)
    if order.command.is_dry_run:
        return Outcome("done", "dry_run", text=body)
    details = {"sha": order.pull_request.head_sha, "smoke": whole.value}
    decision = "failed" if whole is SmokeResult.FAILED else "done"
    return Outcome(decision, REASONS[whole], details, text=body)


def overall(runs: Sequence[SmokeRun]) -> SmokeResult:
    """Return the result of all cells together: one that failed is a failure, one that was not run leaves it open."""
    results = {run.result for run in runs}
    for result in (SmokeResult.FAILED, SmokeResult.NOT_RUN):
        if result in results:
            return result
    return SmokeResult.PASSED


def _booked(context: Context, order: Order, runs: Sequence[SmokeRun]) -> SmokeHistory:
    """Return the branch's history with these runs; a pull request's own runs are no part of it, and a trial is none."""
    if context.smoke_book is None:
        return SmokeHistory(tuple(runs))
    book = context.smoke_book()
    try:
        if order.pull_request.number or order.command.is_dry_run:
            return book.read(order.pull_request.base_ref)
        return book.change(order.pull_request.head_ref, lambda old: replace(old, runs=(*old.runs, *runs)))
    except GpuLolError as error:
        context.progress.note(f"Left out: the history of smoke tests ({error.explanation.what}).")
        return SmokeHistory(tuple(runs))
