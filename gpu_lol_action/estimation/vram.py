"""GPU memory per card as a sum of terms with a range; arithmetic only.

No constant was computed from measurements, but alternatives were chosen while looking at the figures of ``benchmarks/vram.py``.

The terms and their sources: ``vram_weights`` (weights, gradients, optimizer, adapters, buffers), ``vram_states`` (bytes per
parameter), ``vram_activations`` (activations, logits, cache). ``docs/vram-model.md`` says how far the sum was from published
measurements.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation import media, media_pipelines
from gpu_lol_action.estimation.shown_size import parameters
from gpu_lol_action.estimation.vram_activations import language_terms, unchunked_gb
from gpu_lol_action.estimation.vram_question import GB, GIB, Method, Sharding, VramQuestion
from gpu_lol_action.estimation.vram_shape import typical_model
from gpu_lol_action.estimation.vram_weights import possible_gb, term, weight_terms

__all__ = [
    "GB",
    "GIB",
    "Method",
    "Sharding",
    "VramQuestion",
    "breakdown_of",
    "estimate_vram",
    "least_cards",
    "sharded",
]

CONTEXT_GB = 0.6  # CUDA context and kernels of one process
FRAGMENTATION = 0.03  # of weights, gradients and optimizer state in training

_OF_TEXT = ("llm", "vlm", "omni")
"""Kinds of models whose training is that of their language model: without a shape of its own, in the usual proportions."""

# How far each term may lie below and above its formula, as a share of it. Weights are counted, the rest depends on kernels,
# allocators and libraries: 17 of 20 published figures lie within low and high, 2 of 120 more than a tenth over high
# (benchmarks/vram.py, with whose figures in sight these were chosen).
_SPREADS = {
    "weights": (0.03, 0.08),
    "frozen parts": (0.03, 0.08),
    "reference model": (1.00, 0.08),  # many trainers compute its answers once, before
    "gradients": (0.15, 0.20),
    "optimizer": (0.15, 0.20),
    "casts": (1.00, 0.10),
    "adapters": (0.50, 0.30),
    "buffers": (0.60, 0.80),
    "KV cache": (0.10, 0.80),  # a cache that grows by concatenation leaves holes: twice its size was published
    "activations": (0.35, 0.60),
    "logits": (0.50, 0.40),
    "overhead": (0.70, 0.60),
}
_ROUGH_SPREAD = (0.40, 0.80)
_STATES = frozenset({"weights", "frozen parts", "reference model", "gradients", "optimizer", "adapters", "casts"})


def estimate_vram(question: VramQuestion) -> MemoryBreakdown:
    """Return the breakdown per card in GiB, with low, expected, high, and what a card must offer."""
    question = media_pipelines.with_adapted_part(question)
    terms = media_pipelines.state_terms(question) or weight_terms(question)
    if not question.is_states_only:
        terms += _activation_terms(question)
        terms.append(_overhead_term(question, terms))
    kept = tuple(each for each in terms if each.gib >= 0.005)
    possible = possible_gb(question) + media_pipelines.possible_gb(question) + unchunked_gb(question)
    found = breakdown_of(kept, question.method.value, _notes(question, kept), possible * GB / GIB)
    # An older library's attention is no reason to ask for a larger card.
    scores = media_pipelines.scores_gb(question) * GB / GIB
    return replace(found, high_gib=round(found.high_gib + scores, 2))


def breakdown_of(
    terms: tuple[MemoryTerm, ...], method: str, notes: tuple[str, ...], possible_gib: float = 0.0
) -> MemoryBreakdown:
    """Sum terms into a range. Required is half-way from expected to high, rounded up: a run that does not fit dies.

    ``possible_gib`` is what some libraries keep besides and others do not: it counts in ``high`` alone.
    """
    expected = low = high = added(each.gib for each in terms)
    high += possible_gib
    for each in terms:
        below, above = _ROUGH_SPREAD if each.basis.startswith("rough") else _SPREADS.get(each.name, _ROUGH_SPREAD)
        low -= each.gib * below
        high += each.gib * above
    required = math.ceil((expected + high) / 2 - 0.05)
    return MemoryBreakdown(terms, round(low, 2), round(expected, 2), round(high, 2), float(required), method, notes)


def least_cards(question: VramQuestion, card_gib: float, choices: tuple[int, ...] = (1, 2, 4, 8)) -> int | None:
    """Return the fewest cards of that size on which the run fits when everything is sharded; None where even the most are too few."""
    for count in choices:
        asked = question if count == 1 else sharded(question, count)
        if estimate_vram(replace(asked, gpu_count=count)).required_gib <= card_gib:
            return count
    return None


def sharded(question: VramQuestion, count: int) -> VramQuestion:
    """Return the same run on several cards with everything sharded that can be."""
    if question.sharding.divides_weights:
        return replace(question, gpu_count=count)
    full = Sharding.ZERO3 if question.method.trains else Sharding.TENSOR
    return replace(question, gpu_count=count, sharding=full)


def _overhead_term(question: VramQuestion, terms: list[MemoryTerm]) -> MemoryTerm:
    """Return context and kernels of one process, and in training what the allocator cannot use between blocks.

    Weights that are only loaded lie in blocks of their own size and fragment nothing.
    """
    if not question.method.trains:
        return term("overhead", CONTEXT_GB, "CUDA context, kernels")
    state = added(each.gib for each in terms if each.name in _STATES) * GIB / GB
    return term("overhead", CONTEXT_GB + state * FRAGMENTATION, "CUDA context, kernels, fragmentation")


def _activation_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return what grows with batch and size of input."""
    counted = media.activation_terms(question)
    if counted:
        return counted
    model = question.model
    if model.has_shape:
        return language_terms(question)
    if question.method.trains and model.kind.startswith(_OF_TEXT):
        usual = typical_model(model.name, model.active_parameters_b or model.parameters_b, model.kind)
        return language_terms(replace(question, model=replace(usual, parameters_b=model.parameters_b)))
    return _rough_terms(question)


def _rough_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return a rough term where no shape is known: half of the weights for inference, 4 GB per B parameters and training sample of diffusion."""
    model = question.model
    if question.method is Method.INFERENCE:
        rough = 0.5 * model.parameters_b * question.weight_bits / 8 + (
            2.0 if model.kind.startswith("diffusion") else 0.3
        )
        return [term("activations", rough, f"rough: {model.kind} models vary with resolution")]
    per_sample = 4.0 * model.parameters_b if model.kind.startswith("diffusion") else 0.1
    base = per_sample / 2 if question.is_checkpointing else per_sample
    return [term("activations", base * question.batch_size, f"rough: {base:.2g} GB per sample of a {model.kind} model")]


def _notes(question: VramQuestion, terms: tuple[MemoryTerm, ...]) -> tuple[str, ...]:
    notes = []
    if question.model.source == "name":
        notes.append(f"size read off the model's name; {question.model.note}")
    if any(each.basis.startswith("rough") for each in terms):
        notes.append("activations are rough, because the model's shape is not known")
    if question.method.trains and not question.model.has_shape and question.model.kind.startswith(_OF_TEXT):
        size = parameters(question.model.parameters_b)
        notes.append(f"the usual proportions of {size} are assumed, because the model's shape is not known")
    if question.sharding is Sharding.NONE and question.gpu_count > 1 and question.method.trains:
        notes.append("each card holds a whole copy: nothing was found that shards")
    return tuple(notes)
