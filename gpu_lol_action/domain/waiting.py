"""Waiting for a machine that nobody has to give: until when it is worth it, and when to ask again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from gpu_lol_action.domain.records import record

ASK_AGAIN_AFTER = (timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4), timedelta(minutes=5))
"""Pauses between rounds; the last one repeats. Capacity comes and goes within minutes, and a round asks several offers."""


@record(frozen=True, slots=True)
class Waiting:
    """A launch that goes on asking. ``bound`` says what ends it at ``until``: ``lease``, ``policy`` or ``job``.

    ``rounds`` counts how often all offers were asked; ``next_at`` is when they are asked again.
    """

    since: datetime
    until: datetime
    bound: str
    rounds: int
    next_at: datetime


@record(frozen=True, slots=True)
class WaitBounds:
    """What ends a wait: half of the lease, the policy's time, and the job that waits (None: it may go on)."""

    claimed_at: datetime
    lease: timedelta
    patience: timedelta
    job_until: datetime | None = None

    def end(self) -> tuple[datetime, str]:
        """Return when the wait ends at the latest, and which bound that is.

        The lease's end is announced before the first offer is asked and never moves: what is waited is taken from it. A
        machine for less than half of it is not what was asked for.
        """
        ends = [(self.claimed_at + self.lease / 2, "lease"), (self.claimed_at + self.patience, "policy")]
        if self.job_until is not None:
            ends.append((self.job_until, "job"))
        return min(ends)


def next_round(before: Waiting | None, bounds: WaitBounds, now: datetime) -> Waiting | None:
    """Return the wait after one more round without a machine, or None where it is over."""
    until, bound = bounds.end()
    if now >= until:
        return None
    rounds = before.rounds + 1 if before else 1
    pause = _nth(ASK_AGAIN_AFTER, rounds - 1)
    return Waiting(before.since if before else now, until, bound, rounds, min(now + pause, until))


def job_ends_at(started_at: datetime, job_minutes: str) -> datetime | None:
    """Return when this job is ended by GitHub, from what the workflow says of it; None where it says nothing."""
    return started_at + timedelta(minutes=int(job_minutes)) if job_minutes.isascii() and job_minutes.isdigit() else None


def _nth(pauses: Sequence[timedelta], number: int) -> timedelta:
    return pauses[min(number, len(pauses) - 1)]
