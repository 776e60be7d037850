"""Room over a sum of terms where what was summed is itself a guess: then the whole range is asked for, not half of it.

``estimate_vram`` asks for what lies half-way from expected to high, because the model is the run's. A model that is only the usual
one of its family leaves more open than the formulas' own spread.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.models.models_beside import with_models_beside
from gpu_lol_action.analysis.training.placement import LARGE_CARD_GIB, MOST_CARDS
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram, sharded

# The same classes load the family's next generation: `LlamaForCausalLM` Llama 3.1's 8.03 B as well as Llama 2's 6.74 B.
NEXT = {"meta-llama/Llama-2-7b-hf": "meta-llama/Llama-3.1-8B"}
# Below seven billion: who trains all of a language model on few cards means one of these sizes.
SMALLER = ("Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-1.5B", "Qwen/Qwen2.5-0.5B")
_STATES = frozenset({"weights", "gradients", "optimizer"})


def spread_for_family(question: VramQuestion, count: int) -> tuple[VramQuestion, int]:
    """Return the question over so many cards that the family's next model fits as well, where it is divided at all."""
    while 1 < count < MOST_CARDS and with_room(estimate_vram(question), question).required_gib > LARGE_CARD_GIB:
        count *= 2
        question = sharded(question, count)
    return question, count


def fitting(question: VramQuestion, count: int, findings: tuple[Finding, ...]) -> tuple[VramQuestion, int]:
    """Return the question of a language model that is only assumed, with a smaller one where no widely rented card holds it.

    What is trained beside it counts, too; the ``count`` of cards is said and stays.
    """

    def need_gib(asked: VramQuestion) -> float:
        return with_models_beside(estimate_vram(asked), asked, findings).expected_gib

    if question.model.kind != "llm" or not question.method.trains_everything or need_gib(question) <= LARGE_CARD_GIB:
        return question, count
    for model in map(find_model, SMALLER):
        smaller = replace(question, model=model) if model is not None else question
        if smaller.model.parameters_b < question.model.parameters_b and need_gib(smaller) <= LARGE_CARD_GIB:
            return smaller, count
    return question, count


def with_room(breakdown: MemoryBreakdown, question: VramQuestion) -> MemoryBreakdown:
    """Return the breakdown of an assumed model with its whole range asked for, and room for the family's next generation."""
    model = question.model
    if question.method.trains and model.kind.startswith("diffusion"):
        return breakdown  # such trainers come with settings for a card that exists
    following = find_model(NEXT.get(model.name, ""))
    grows = following.parameters_b / model.parameters_b - 1 if following is not None else 0.0
    high = breakdown.high_gib + grows * added(term.gib for term in breakdown.terms if term.name in _STATES)
    return replace(breakdown, high_gib=round(high, 2), required_gib=float(math.ceil(high - 0.05)))
