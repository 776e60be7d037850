"""GPU memory of a workload as a breakdown with a range; sizes are GiB (2**30 bytes) per GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.sums import added


@record(frozen=True, slots=True)
class MemoryTerm:
    """One addend: ``name`` (weights, optimizer, activations, ...), GiB, what it was computed from, and where that stands."""

    name: str
    gib: float
    basis: str
    evidence: Evidence | None = None


@record(frozen=True, slots=True)
class Workload:
    """What an estimate is of: two that are equal need the same memory. ``rest`` is a digest of all else that was asked."""

    model: str
    method: str
    precision: str
    batch_size: int
    sequence_length: int
    rest: str


@record(frozen=True, slots=True)
class MemoryBreakdown:
    """Terms and the range around their sum; ``required_gib`` is what a GPU must offer so that a run does not die.

    ``computed_gib`` is what the terms alone would ask for and ``weighed`` the statement of the documentation that was
    weighed against it; both are None where nothing was stated: then ``required_gib`` is what was computed.
    ``workload`` is what it is of, for whoever measures the same; ``unmeasured`` is the range before measurements narrowed it.
    """

    terms: tuple[MemoryTerm, ...]
    low_gib: float
    expected_gib: float
    high_gib: float
    required_gib: float
    method: str
    notes: tuple[str, ...] = ()
    computed_gib: float | None = None
    weighed: Finding | None = None
    workload: Workload | None = None
    unmeasured: tuple[float, float, float] | None = None

    @property
    def estimated(self) -> tuple[float, float, float]:
        """Low, expected and high GiB as they were estimated, whatever was measured since."""
        return self.unmeasured or (self.low_gib, self.expected_gib, self.high_gib)


def with_terms(breakdown: MemoryBreakdown, terms: Sequence[MemoryTerm]) -> MemoryBreakdown:
    """Return the breakdown with further terms that are needed whole, besides all others; what is required is in whole GiB."""
    if not terms:
        return breakdown
    more = added(term.gib for term in terms)
    return replace(
        breakdown,
        terms=(*breakdown.terms, *terms),
        low_gib=round(breakdown.low_gib + more, 2),
        expected_gib=round(breakdown.expected_gib + more, 2),
        high_gib=round(breakdown.high_gib + more, 2),
        required_gib=float(math.ceil(breakdown.required_gib + more - 0.05)),
    )
