"""Tell how a smoke test ended: in the book, in the answer, and to whatever reads the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeIntent, SmokeResult, SmokeRun, SmokeTest
from gpu_lol_action.errors import Door
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.smoke_book import tell_runs
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


def report_smoke(
    context: Context,
    order: Order,
    tests: Sequence[tuple[str, SmokeTest]],
    ends: Sequence[CellEnd],
    intent: SmokeIntent | None = None,
) -> Outcome:
    """Write the runs into the branch's history, say them, and return the outcome that the door's exit status follows.

    ``tests`` are what was run, by project; ``intent`` is how this run was entered there when it began.
    """
    runs = tuple(end.run for end in ends)
    records = tuple(end.record for end in ends if end.record is not None)
    is_dry_run, pull_request = order.command.is_dry_run, order.pull_request
    history = tell_runs(context, order, intent, runs)
    issue = None
    if history is not None and not (pull_request.number or is_dry_run):
        issue = keep_issue(context, Night(order.repository, pull_request.head_ref, history, runs, records))
    folder = "" if is_dry_run else keep_files(context, ends)
    case = SmokeCase(
        ref=pull_request.head_ref,
        tests=tests,
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
