"""``up --wait``: ask all offers again until one grants a machine, as long as that is worth it; nothing bills meanwhile."""

from __future__ import annotations

from datetime import timedelta

from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.waiting import WaitBounds, Waiting, next_round
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.journal import Journal
from gpu_lol_action.handlers.ladder import NoOfferError, climb
from gpu_lol_action.handlers.planned import UpPlan

MAY_PASS = frozenset({"no_capacity", "launch_timed_out"})
"""What may be otherwise in a few minutes; other failures are told at once."""

LOOK_EVERY = timedelta(seconds=20)
"""Between two looks for a tombstone while nothing is asked of a cloud: a request each, of a thousand an hour."""

TEARDOWN_MARGIN = timedelta(minutes=15)
"""Of the job's time: kept for the end of a machine that failed its checks, and for what was installed before."""


def climb_or_wait(journal: Journal, plan: UpPlan) -> None:
    """Climb the ladder; with ``--wait`` again and again, until it is not worth it any more.

    Raises what ``climb`` raises: NoOfferError where the last round was in vain, StoppedError for a tombstone, UserError
    when the head moved. Before each rest the ledger knows that nothing is launched, so an end need not wait for this run.
    """
    while True:
        try:
            climb(journal, plan)
        except NoOfferError as none:
            if not journal.order.command.is_waiting or none.reason_code not in MAY_PASS:
                raise
            waiting = next_round(journal.record.waiting, _bounds(journal, plan), journal.context.clock.now())
            if waiting is None:
                raise
            _rest(journal, waiting)
        else:
            return


def _bounds(journal: Journal, plan: UpPlan) -> WaitBounds:
    times, ends_at = journal.order.policy.timeouts, journal.context.settings.job_ends_at
    # A machine that is granted at the last moment still has to be made ready, or ended, by this very job.
    needed = times.provision + times.setup + times.validate + TEARDOWN_MARGIN
    return WaitBounds(journal.record.claimed_at, plan.lease, times.wait, ends_at - needed if ends_at else None)


def _rest(journal: Journal, waiting: Waiting) -> None:
    """Wait for the next round; a tombstone is seen within seconds."""
    journal.write(waiting=waiting)
    with journal.phase("waiting"):
        left = format_duration(waiting.until - journal.context.clock.now())
        journal.context.progress.line(
            f"no offer has a machine; nothing is billed; asked again at {waiting.next_at:%H:%M:%S} UTC, for {left} at most"
        )
        while (rest := waiting.next_at - journal.context.clock.now()) > timedelta(0):
            journal.context.clock.sleep(min(rest, LOOK_EVERY))
            _look_for_tombstone(journal)


def _look_for_tombstone(journal: Journal) -> None:
    try:
        is_changed = journal.context.ledger.version(journal.record.name) != journal.entry.version
    except GpuLolError as error:
        journal.context.progress.line(f"could not look for a tombstone: {error.explanation.what}")
        return
    if is_changed:
        journal.stop_if_buried()
