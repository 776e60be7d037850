"""Memory as bars on the scale of the card that was chosen: each term, their sum with its range, and what is left."""

from __future__ import annotations

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.render.evidence_text import place_of
from gpu_lol_action.render.formats import gib_range
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Column, Screen, table, wrap
from gpu_lol_action.render.views_documented import notes_beside
from gpu_lol_action.render.views_proposal import ProposalCase

_NARROW_BAR, _WIDE_BAR = 12, 24
# From so many columns on the places in the code are shown in full before what a term was computed from.
_ROOMY = 90


def memory_lines(case: ProposalCase, screen: Screen) -> list[str]:
    """Return the bars under their title; nothing where no memory was computed."""
    breakdown = case.analysis.breakdown
    if breakdown is None or not breakdown.terms:
        return []
    card, size = _scale(case, breakdown)
    bar_columns = min(max(screen.width // 5, _NARROW_BAR), _WIDE_BAR)
    rows = [
        (
            visible(term.name, 16),
            screen.bar(term.gib / size, bar_columns),
            f"{term.gib:.1f}",
            visible(term.basis, 80),
            place_of(term.evidence, 80) if term.evidence else "",
        )
        for term in breakdown.terms
    ]
    spread = f"{gib_range(breakdown.low_gib, breakdown.high_gib)} possible, {breakdown.required_gib:.3g} asked for"
    rows.append(("together", _sum_bar(breakdown, size, bar_columns), f"{breakdown.expected_gib:.1f}", spread, ""))
    scale = f"a full bar: the {size:g} GiB of one {card}" if card else ""
    lines = [screen.title("Memory per GPU, GiB", scale), *table(rows, _columns(screen), screen)]
    return lines + [
        line for note in notes_beside(breakdown) for line in wrap(visible(note, 300), screen.width, "  - ", "    ")
    ]


def _columns(screen: Screen) -> tuple[Column, ...]:
    return (
        Column(turn=3, least=8),
        Column("bar"),
        Column("bold", is_right=True),
        Column(turn=2, least=16, is_optional=True),
        Column("dim", turn=1, least=32 if screen.width >= _ROOMY else 23, is_cut_left=True),
    )


def _scale(case: ProposalCase, breakdown: MemoryBreakdown) -> tuple[str, float]:
    best = case.ladder.best
    most = max(breakdown.required_gib, breakdown.expected_gib, 0.1)
    if best is None or best.offer.memory_gib_per_gpu < breakdown.expected_gib:
        return "", most
    return visible(best.offer.accelerator, 30), best.offer.memory_gib_per_gpu


def _sum_bar(breakdown: MemoryBreakdown, size: float, columns: int) -> str:
    """Return the expected sum, then what it may grow to, then the rest of the card; in whole cells."""
    expected = min(round(breakdown.expected_gib / size * columns), columns)
    high = min(max(round(max(breakdown.high_gib, breakdown.required_gib) / size * columns), expected), columns)
    return "█" * expected + "▒" * (high - expected) + "░" * (columns - high)
