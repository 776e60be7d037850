"""Measured truth over an estimate: only of the very same workload, never below what was measured, and never unsaid.

A peak is what the driver counts on the whole card: weights and activations, and also the CUDA context and what the
allocator keeps for later (PyTorch: memory management notes, "cached memory"). It is therefore rather more than a run
needs; but the sampler looks every two seconds, and what was shorter may be missing. Both are why ``ROOM`` is given.
Another batch, another length, another card count: another workload, and nothing is carried over to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from gpu_lol_action.domain.card_sizes import sold_gb
from gpu_lol_action.domain.digests import sha256
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm, Workload
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.vram_question import VramQuestion

if TYPE_CHECKING:
    from gpu_lol_action.domain.measured import MeasuredRun

ROOM = 1.1
ROOM_AFTER_ONE = 1.2
"""Over the most that was measured: of several runs, and of a single one."""
LEAST_RATIO = 0.5
"""Of the estimate's low end: a run that held less never did what was estimated (fell back to the CPU, ended early)."""
FAR = 1.5
"""A file that asks for up to so many times what is needed leaves room on purpose (as for the code's own word)."""
_SOURCES = ("note", "source")


@record(frozen=True, slots=True)
class SpecAdvice:
    """What `hardware.vram_required_gb` asks and what measurements say it should, as cards are sold. ``most_gib`` is the most that was held."""

    asked_gb: int
    value_gb: int
    most_gib: float


def workload_of(question: VramQuestion, terms: Sequence[MemoryTerm]) -> Workload:
    """Return what an estimate is of. Where facts came from is no part of it, the facts are."""
    asked = asdict(question)
    asked["model"] = {key: value for key, value in asked["model"].items() if key not in _SOURCES}
    words = json.dumps([asked, [(term.name, term.basis) for term in terms]], sort_keys=True, default=_plain)
    return Workload(
        model=question.model.name,
        method=question.method.value,
        precision=question.precision,
        batch_size=question.batch_size,
        sequence_length=question.sequence_length,
        rest=sha256(words.encode()).hex()[:16],
    )


def calibrate(estimate: MemoryBreakdown, runs: Sequence[MeasuredRun]) -> MemoryBreakdown:
    """Return the estimate with the range that was measured, and a note that says so; unchanged where nothing speaks for it."""
    same = runs_of(estimate.workload, runs)
    if not same:
        return estimate
    whole = [run for run in same if is_telling(run, estimate.low_gib)]
    most = max(run.peak_gib for run in same)
    if not whole:
        return _at_least(estimate, max(same, key=lambda run: run.peak_gib))
    low, high = min(run.peak_gib for run in whole), _high(whole, most)
    required = _required(whole, most, high)
    if estimate.weighed is not None:
        # The documentation's word counts as well: together they only ask for more.
        required, high = max(required, int(estimate.required_gib)), max(high, estimate.required_gib)
    return replace(
        estimate,
        unmeasured=estimate.estimated,
        low_gib=round(low, 2),
        high_gib=round(high, 2),
        expected_gib=round(max(run.peak_gib for run in whole), 2),
        required_gib=float(required),
        notes=(*estimate.notes, *_words(estimate, whole, low, high)),
    )


def advise(asked_gb: int | None, low_gib: float, same: Sequence[MeasuredRun]) -> SpecAdvice | None:
    """Return what a spec should ask for where it asks for less than was held, or for far more; None where it is right.

    ``same`` are runs of the workload that the spec is for, ``low_gib`` the low end of its estimate.
    """
    if not asked_gb or not same:
        return None
    whole = [run for run in same if is_telling(run, low_gib)]
    most = max(run.peak_gib for run in same)
    needed = _required(whole, most, _high(whole, most)) if whole else math.ceil(most)
    value = sold_gb(needed)
    is_too_much = bool(whole) and asked_gb > FAR * needed and value < asked_gb
    return SpecAdvice(asked_gb, value, most) if asked_gb < most or is_too_much else None


def runs_of(workload: Workload | None, runs: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return the runs of this very workload, oldest first."""
    return [run for run in runs if workload is not None and run.workload == workload]


def is_telling(run: MeasuredRun, low_gib: float) -> bool:
    """Whether a run says what is enough."""
    return not run.is_at_least and run.peak_gib >= LEAST_RATIO * low_gib


def difference_percent(expected_gib: float, measured_gib: float) -> int:
    """Return by how many percent the measured figure differs from the estimated one."""
    return round((measured_gib / expected_gib - 1) * 100) if expected_gib else 0


def _room(whole: Sequence[MeasuredRun]) -> float:
    return ROOM if len(whole) > 1 else ROOM_AFTER_ONE


def _high(whole: Sequence[MeasuredRun], most: float) -> float:
    return max(most, max(run.peak_gib for run in whole) * _room(whole))


def _required(whole: Sequence[MeasuredRun], most: float, high: float) -> int:
    """Return what to ask of a card: the range's end, but no more than a card on which it ran with room to spare."""
    proven = [math.floor(run.card_gib) for run in whole if run.card_gib is not None and run.card_gib > most]
    return max(1, math.ceil(most - 0.05), min([math.ceil(high - 0.05), *proven]))


def _at_least(estimate: MemoryBreakdown, run: MeasuredRun) -> MemoryBreakdown:
    """Return the estimate where a run only shows that so much is needed."""
    if run.peak_gib <= estimate.low_gib:
        return estimate
    why = "its card was full" if run.is_card_full else "it did not come to its end"
    note = f"at least {run.peak_gib:.1f} GiB were measured on this very workload ({_place(run)}; {why})"
    return replace(
        estimate,
        unmeasured=estimate.estimated,
        low_gib=round(run.peak_gib, 2),
        expected_gib=round(max(estimate.expected_gib, run.peak_gib), 2),
        high_gib=round(max(estimate.high_gib, run.peak_gib), 2),
        required_gib=max(estimate.required_gib, float(math.ceil(run.peak_gib - 0.05))),
        notes=(*estimate.notes, note),
    )


def _words(estimate: MemoryBreakdown, whole: Sequence[MeasuredRun], low: float, high: float) -> tuple[str, str]:
    newest = whole[-1]
    times = "once" if len(whole) == 1 else f"{len(whole)} times"
    percent = difference_percent(estimate.expected_gib, newest.peak_gib)
    sign = "+" if percent >= 0 else "\u2212"
    return (
        f"estimated {estimate.expected_gib:.1f} GiB, measured {newest.peak_gib:.1f} GiB ({sign}{abs(percent)} %; {_place(newest)})",
        (
            f"this very workload was measured {times}: the range was {estimate.low_gib:.1f} to {estimate.high_gib:.1f} GiB and is now "
            f"{low:.1f} to {high:.1f}, {round((_room(whole) - 1) * 100)} % over the most that the driver counted, caches included"
        ),
    )


def _place(run: MeasuredRun) -> str:
    return f"{run.card or 'a card'}, `{run.how}` at {run.sha[:7]} on {run.at:%Y-%m-%d}"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else str(value)
