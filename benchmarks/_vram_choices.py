"""What the memory model's choices would have been without a source: each source against the choice that the others make.

The formulas leave a few constants open. They were chosen from what libraries do, but with these figures in sight. Here each
source is left out in turn, the combination with the least mean error over all other rows is taken, and scored on the source
that had no say. A result far worse than the chosen constants' own error would mean that they fit single sources.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Protocol

from gpu_lol_action.estimation import vram, vram_activations, vram_weights


class Scored(Protocol):
    """A published figure and how far ours is from it."""

    @property
    def source(self) -> str:
        """Return where the figure is from."""

    @property
    def error(self) -> float:
        """Return the share by which ours is off."""


# Each: what it is, where it stands, and values that libraries or papers speak for.
CHOICES: tuple[tuple[str, ModuleType, str, tuple[float, ...]], ...] = (
    ("context, GB", vram, "CONTEXT_GB", (0.4, 0.6, 0.8)),
    ("fragmentation", vram, "FRAGMENTATION", (0.0, 0.03, 0.06)),
    ("bytes per logit", vram_activations, "LOGIT_BYTES", (8, 12, 16)),
    ("gathered parameters, B", vram_weights, "LIVE_PARAMETERS_B", (0.5, 1.0)),
    ("reduction bucket, B", vram_weights, "REDUCE_BUCKET_B", (0.2, 0.5)),
)


def leave_one_out(score: Callable[[], Sequence[Scored]]) -> Iterator[str]:
    """Yield the table: the error of each source under the others' choice, beside that of the constants as they are."""
    made = tuple(getattr(module, name) for _, module, name, _ in CHOICES)
    rows = score()
    sources = [row.source for row in rows]
    errors: dict[tuple[float, ...], list[float]] = {}
    try:
        for values in itertools.product(*(choice[3] for choice in CHOICES)):
            _set(values)
            errors[values] = [abs(row.error) for row in score()]
    finally:
        _set(made)
    own = [abs(row.error) for row in rows]
    best = _least(errors, [True] * len(rows))
    yield "| left out | rows | as chosen | by the others' choice | the others' choice |\n|---|---:|---:|---:|---|"
    apart = []
    for source in dict.fromkeys(sources):
        is_other = [each != source for each in sources]
        chosen = _least(errors, is_other)
        left = [error for error, other in zip(errors[chosen], is_other, strict=True) if not other]
        mine = [error for error, other in zip(own, is_other, strict=True) if not other]
        apart += left
        said = ", ".join(f"{value:g}" for value in chosen)
        yield f"| {source[:48]} | {len(left)} | {statistics.mean(mine):.1%} | {statistics.mean(left):.1%} | {said} |"
    named = ", ".join(f"{what} {value:g}" for (what, *_), value in zip(CHOICES, best, strict=True))
    yield f"\nall rows: {statistics.mean(own):.1%} as chosen, {statistics.mean(apart):.1%} each source left out,"
    yield f"{statistics.mean(errors[best]):.1%} by the best choice for these rows ({named})"


def _least(errors: Mapping[tuple[float, ...], Sequence[float]], counts: Sequence[bool]) -> tuple[float, ...]:
    """Return the choice with the least mean error over the rows that count; the first among equals."""
    return min(errors, key=lambda values: sum(itertools.compress(errors[values], counts)))


def _set(values: Sequence[float]) -> None:
    for (_, module, name, _), value in zip(CHOICES, values, strict=True):
        setattr(module, name, value)
