"""A branch's book of smoke tests: a run is entered before it spends, told at its end, and closed by others where it is lost.

The book fails nothing: where it cannot be read or written, the summary says what is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from gpu_lol_action.domain.request import Repository
from gpu_lol_action.domain.smoke import SmokeCell, SmokeHistory, SmokeIntent, SmokeRun
from gpu_lol_action.domain.smoke_intent import begin, conclude, give_up, is_earlier_attempt, is_overdue, lost_runs
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.ports_smoke import SmokeBook
from gpu_lol_action.handlers.smoke_cell import Verdict, refused
from gpu_lol_action.handlers.smoke_issue import Night, keep_issue


def enter_run(context: Context, order: Order, cells: Sequence[str], lease: timedelta) -> SmokeIntent | None:
    """Enter a run of a branch as begun, and close those before it that were lost; None where it is not entered.

    A pull request's runs are no part of its branch's history, and a trial is none. ``cells`` are its machines' names, ``lease`` the longest of theirs.
    """
    if context.smoke_book is None or order.pull_request.number or order.command.is_dry_run:
        return None
    settings, now = context.settings, context.clock.now()
    intent = SmokeIntent(
        run_id=settings.run_id,
        attempt=settings.run_attempt,
        sha=order.pull_request.head_sha,
        at=now,
        # At the worst one machine after the other, from the last moment at which they are tried again.
        ends_by=now + order.policy.smoke_retry_within + len(cells) * lease,
        cells=tuple(cells),
        run_url=settings.run_url or "",
    )
    try:
        _close(context, order.repository, order.pull_request.head_ref, context.smoke_book(), then=intent)
    except GpuLolError as error:
        context.progress.note(f"Left out: that this smoke test has begun ({error.explanation.what}).")
        return None
    return intent


def tell_runs(
    context: Context, order: Order, intent: SmokeIntent | None, runs: Sequence[SmokeRun]
) -> SmokeHistory | None:
    """Return the branch's history with these runs, in the place of their intent; None where it cannot be kept."""
    if context.smoke_book is None:
        return None
    try:
        book = context.smoke_book()
        if order.pull_request.number or order.command.is_dry_run:
            return book.read(order.pull_request.base_ref)
        if intent is None:
            return book.change(order.pull_request.head_ref, lambda old: replace(old, runs=(*old.runs, *runs)))
        return book.change(order.pull_request.head_ref, lambda old: conclude(old, intent, runs))
    except GpuLolError as error:
        context.progress.note(f"Left out: the history of smoke tests ({error.explanation.what}).")
        return None


def tell_end(context: Context, order: Order, intent: SmokeIntent | None, verdict: Verdict) -> None:
    """Book a run that ended before there was a result: on each of its machines the same."""
    if intent is None:
        return
    verdict = replace(verdict, why=context.redact(verdict.why), remedy=context.redact(verdict.remedy))
    runs = tuple(
        replace(refused(SmokeCell(), intent.sha, intent.at, verdict), cell=cell, run_url=intent.run_url)
        for cell in intent.cells
    )
    history = tell_runs(context, order, intent, runs)
    if history is not None:
        _keep_issue(context, Night(order.repository, order.pull_request.head_ref, history, runs, ()), {intent.run_id})


def close_lost(
    context: Context, repository: Repository, is_over: Callable[[SmokeIntent], bool] | None = None
) -> tuple[SmokeIntent, ...]:
    """Close the default branch's runs that were lost, and return them; ``is_over`` knows more than GitHub says of them."""
    if context.smoke_book is None:
        return ()
    try:
        return _close(context, repository, repository.default_branch, context.smoke_book(), is_over=is_over)
    except GpuLolError as error:
        context.progress.line(f"smoke tests that were begun could not be looked at: {error.explanation.what}")
        return ()


def _close(
    context: Context,
    repository: Repository,
    branch: str,
    book: SmokeBook,
    *,
    then: SmokeIntent | None = None,
    is_over: Callable[[SmokeIntent], bool] | None = None,
) -> tuple[SmokeIntent, ...]:
    """Close what is lost, enter what begins, in one version of the book; then look after the issue about it."""
    lost = tuple(
        intent for intent in book.read(branch).begun if (is_over and is_over(intent)) or _is_lost(context, intent)
    )
    closed: list[SmokeIntent] = []

    def edit(old: SmokeHistory) -> SmokeHistory:
        closed[:] = [intent for intent in lost if intent in old.begun]
        new = give_up(old, closed)
        return begin(new, then) if then is not None else new

    if lost or then is not None:
        history = book.change(branch, edit)
        if closed:
            runs = [run for intent in closed for run in lost_runs(intent)]
            _keep_issue(context, Night(repository, branch, history, runs, ()), {intent.run_id for intent in closed})
    return tuple(closed)


def _is_lost(context: Context, intent: SmokeIntent) -> bool:
    """Whether a run will not tell any more how it ended. What cannot be told is still at it, until long after its time."""
    settings = context.settings
    if is_overdue(intent, context.clock.now()) or is_earlier_attempt(intent, settings.run_id, settings.run_attempt):
        return True
    return intent.run_id != settings.run_id and not context.forge.is_run_alive(intent.run_id)


def _keep_issue(context: Context, night: Night, run_ids: Collection[str]) -> None:
    """Look after the issue, which says what may still run of these workflow runs."""
    try:
        records = [record for record in answers.open_records(context) if record.run_id in run_ids]
    except GpuLolError as error:
        context.progress.line(f"the issue about the smoke test waits: {error.explanation.what}")
        return
    keep_issue(context, replace(night, records=records))
