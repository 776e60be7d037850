"""Tell how a smoke test ended: in the book, in the answer, and to whatever reads the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun, SmokeTest
from gpu_lol_action.errors import Door, GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.smoke_files import keep_files
from gpu_lol_action.handlers.smoke_issue import Night, keep_issue
from gpu_lol_action.handlers.surfaces import report_check
from gpu_lol_action.render import comments
from gpu_lol_action.render.check_report import smoke_report
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
    records = tuple(end.record for end in ends if end.record is not None)
    is_dry_run, pull_request = order.command.is_dry_run, order.pull_request
    history = _booked(context, order, runs)
    issue = keep_issue(context, order, Night(history, runs, records)) if history is not None else None
    folder = "" if is_dry_run else keep_files(context, ends)
    case = SmokeCase(
        ref=pull_request.head_ref,
        test=test,
        runs=runs,
        history=history or SmokeHistory(runs),
        records=records,
        now=context.clock.now(),
        reply_to=order.reply_to,
        is_dry_run=is_dry_run,
        history_ref=pull_request.base_ref if pull_request.number else pull_request.head_ref,
        issue=issue,
        # Where a job lays its files nobody can look; a terminal's own folder is worth a word.
        folder=folder if context.settings.door is Door.TERMINAL else "",
    )
    body = comments.smoke(case)
    answers.reply(context, pull_request.number, body)
    if is_dry_run:
        return Outcome("done", "dry_run", text=body)
    whole, check = overall(runs), smoke_report(case, body, context.settings.run_url)
    is_shown = report_check(context, check)
    details = {"sha": pull_request.head_sha, "smoke": whole.value}
    if folder:
        details["report_path"] = folder
    if issue is not None:
        details["issue"] = str(issue.number)
    decision = "failed" if whole is SmokeResult.FAILED else "done"
    return Outcome(decision, REASONS[whole], details, text=body, annotations=() if is_shown else check.annotations)


def overall(runs: Sequence[SmokeRun]) -> SmokeResult:
    """Return the result of all cells together: one that failed is a failure, one that was not run leaves it open."""
    results = {run.result for run in runs}
    for result in (SmokeResult.FAILED, SmokeResult.NOT_RUN):
        if result in results:
            return result
    return SmokeResult.PASSED


def _booked(context: Context, order: Order, runs: Sequence[SmokeRun]) -> SmokeHistory | None:
    """Return the branch's history with these runs; None where it cannot be kept.

    A pull request's own runs are no part of it, and a trial is none.
    """
    if context.smoke_book is None:
        return None
    try:
        book = context.smoke_book()
        if order.pull_request.number or order.command.is_dry_run:
            return book.read(order.pull_request.base_ref)
        return book.change(order.pull_request.head_ref, lambda old: replace(old, runs=(*old.runs, *runs)))
    except GpuLolError as error:
        context.progress.note(f"Left out: the history of smoke tests ({error.explanation.what}).")
        return None
