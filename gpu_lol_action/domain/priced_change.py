"""A change with its price: the cheapest machine of each run that differs, before and after."""

from __future__ import annotations

from gpu_lol_action.domain.change import Change, RunChange
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class PricedRun:
    """A run beside the first; a candidate is None where no GPU is needed or nothing fits."""

    change: RunChange
    before: Candidate | None
    after: Candidate | None


@record(frozen=True, slots=True)
class PricedChange:
    """What differs, and what the runs beside the first cost."""

    change: Change
    others: tuple[PricedRun, ...] = ()
