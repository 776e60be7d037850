"""What runs were measured to hold, kept beside what was estimated for them: a few lines for each workload."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from gpu_lol_action.domain.memory import Workload
from gpu_lol_action.domain.records import record

FULL = 0.97
"""Of a card: beyond it nobody knows whether more was wanted."""
LEAST_SAMPLES = 5
"""Of the sampler, two seconds apart: what was over sooner may never have come to its first step."""
KEPT_OF_WORKLOAD = 8
KEPT_RUNS = 40


@record(frozen=True, slots=True)
class MeasuredRun:
    """One run. GiB are per card, and of the card that held most; a peak is the driver's, with context and caches.

    ``how`` is the command of ours that ran it (``smoke``, ``run``). ``workload`` and the estimated figures are None where
    it was not the run that the estimate is of. ``is_whole``: it ended with status 0. ``card_gib`` is the card's memory.
    """

    at: datetime
    sha: str
    how: str
    command: str
    card: str
    peak_gib: float
    card_gib: float | None
    samples: int
    is_whole: bool
    workload: Workload | None = None
    low_gib: float | None = None
    expected_gib: float | None = None
    high_gib: float | None = None

    @property
    def is_card_full(self) -> bool:
        """Whether the card had no more to give."""
        return self.card_gib is not None and self.peak_gib >= FULL * self.card_gib

    @property
    def is_at_least(self) -> bool:
        """Whether it only says that so much is needed, and nothing of what is enough."""
        return self.is_card_full or not self.is_whole or self.samples < LEAST_SAMPLES


@record(frozen=True, slots=True)
class MeasuredBook:
    """The runs of one repository, oldest first."""

    runs: tuple[MeasuredRun, ...] = ()

    def with_run(self, run: MeasuredRun) -> MeasuredBook:
        """Return the book with one more, and of each workload the newest: many runs of one push no other out."""
        kept: list[MeasuredRun] = []
        seen: Counter[Workload | None] = Counter()
        for each in reversed((*self.runs, run)):
            seen[each.workload] += 1
            if seen[each.workload] <= KEPT_OF_WORKLOAD:
                kept.append(each)
        return MeasuredBook(tuple(reversed(kept[:KEPT_RUNS])))
