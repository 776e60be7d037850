"""Room over a sum of terms where what was summed is itself a guess: then the whole range is asked for, not half of it.

``estimate_vram`` asks for what lies half-way from expected to high, because the model is the run's. A model that is only the usual
one of its family, and a term that is only a rough share of the weights, leave more open than the formulas' own spread.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.placement import LARGE_CARD_GIB, MOST_CARDS
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.model_facts import ModelFacts
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram, sharded

# What is assumed as 7 B may be 8 B: Llama 3.1's smallest has 8.03 B parameters where Llama 2's has 6.74 B.
FAMILY_GROWS = 0.19
_STATES = frozenset({"weights", "gradients", "optimizer"})


def estimate_with_room(
    question: VramQuestion, count: int, *, is_assumed: bool, is_count_free: bool
) -> tuple[VramQuestion, int, MemoryBreakdown]:
    """Return the question, over how many cards, and its breakdown with room for what is only guessed.

    ``is_assumed``: nothing names the model. ``is_count_free``: nothing says how many cards; a run that is divided over the fewest
    takes more of them rather than a share that its family's next model would not fit into.
    """
    breakdown = estimate_vram(question)
    if not is_assumed:
        is_rough = any(term.basis.startswith("rough") for term in breakdown.terms)
        return question, count, _whole_range(breakdown, breakdown.high_gib) if is_rough else breakdown
    breakdown = _for_family(breakdown, question.model)
    while is_count_free and 1 < count < MOST_CARDS and breakdown.required_gib > LARGE_CARD_GIB:
        count *= 2
        question = sharded(question, count)
        breakdown = _for_family(estimate_vram(question), question.model)
    return question, count, breakdown


def _for_family(breakdown: MemoryBreakdown, model: ModelFacts) -> MemoryBreakdown:
    """Return the breakdown of an assumed model with room for the family's next generation, where a family has any."""
    grows = FAMILY_GROWS if model.kind == "llm" else 0.0
    more = sum(term.gib for term in breakdown.terms if term.name in _STATES) * grows
    return _whole_range(breakdown, breakdown.high_gib + more)


def _whole_range(breakdown: MemoryBreakdown, high_gib: float) -> MemoryBreakdown:
    return replace(breakdown, high_gib=round(high_gib, 2), required_gib=float(math.ceil(high_gib - 0.05)))
