"""A model that Megatron-LM builds from its flags, and what it keeps per parameter.

Bytes per parameter of weights, gradients and optimizer (Megatron-LM's documentation of its distributed optimizer): bf16 with
32-bit gradients 2 + 4 + 12, fp16 2 + 2 + 16, fp32 4 + 4 + 8; the last of each divided among the replicas where that optimizer
is used. Tensor and pipeline parallelism divide all of it, expert parallelism the experts besides (Shoeybi et al. 2019;
Narayanan et al. 2021; Fedus et al. 2021). With one microbatch after the other in flight the first stage keeps activations of as
many as there are stages, each of its share of the layers: those of all layers, whatever the stages are (Narayanan et al. 2021,
1F1B). Without sequence parallelism tensor parallelism divides 24 of 34 bytes of a layer's activations (Korthikanti et al. 2022).
"""

from __future__ import annotations

from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import rounded_b
from gpu_lol_action.estimation.vram_question import VramQuestion

MEGATRON = "megatron"
_KEPT_WHOLE = 10 / 34  # of a layer's activations: norms' inputs and dropout's, without sequence parallelism
_OFTEN_USED = 1.15  # experts over those that a token does not use: of 8 with 2 in use 1.33, of 64 with 6 1.10


@record(frozen=True, slots=True)
class Flags:
    """The shape that flags say; 0 where one says nothing. ``experts_used``: of each token."""

    layers: int
    hidden: int
    vocabulary: int
    heads: int = 0
    kv_heads: int = 0
    feed_forward: int = 0
    experts: int = 0
    experts_used: int = 0
    is_gated: bool = False
    is_untied: bool = False


def model_of_flags(flags: Flags) -> ModelFacts:
    """Return the model: attention 2 h² (1 + k/a), two or three matrices of h x f in each expert, and the vocabulary."""
    hidden, inner = flags.hidden, flags.feed_forward or 4 * flags.hidden
    share = (flags.kv_heads or flags.heads or 1) / (flags.heads or flags.kv_heads or 1)
    attention = 2 * hidden**2 * (1 + min(share, 1.0))
    expert = (3 if flags.is_gated else 2) * hidden * inner
    experts = max(flags.experts, 1)
    used = min(max(flags.experts_used, 1), experts)
    embeddings = flags.vocabulary * hidden * (2 if flags.is_untied else 1)
    whole = (flags.layers * (attention + expert * experts) + embeddings) / 1e9
    active = (flags.layers * (attention + expert * used) + embeddings) / 1e9
    return ModelFacts(
        "own transformer", "llm", rounded_b(whole), hidden, flags.layers, flags.heads, flags.kv_heads or flags.heads,
        flags.vocabulary, "shape", active_parameters_b=rounded_b(active) if experts > 1 else 0.0, feed_forward=inner,
    )  # fmt: skip


def experts_b(model: ModelFacts) -> float:
    """Return a mixture's parameters in billions that lie in experts; 0 for a dense model."""
    if not model.active_parameters_b:
        return 0.0
    return min((model.parameters_b - model.active_parameters_b) * _OFTEN_USED, model.parameters_b)


def share_on_rank(question: VramQuestion) -> float:
    """Return the share of parameters that expert parallelism leaves on a card, before tensor and pipeline parallelism divide them.

    Experts are whole matrices on their cards, not cut by tensor parallelism, unless the world is large enough for both.
    """
    ways, tensor = max(question.expert_parallel, 1), max(question.tensor_parallel, 1)
    if ways == 1 or question.sharding.divides_weights or not question.model.parameters_b:
        return 1.0
    is_cut = question.gpu_count >= ways * question.parts(is_divided=False)
    experts = experts_b(question.model) / question.model.parameters_b
    return 1 - experts + experts * (1 if is_cut else tensor) / ways


def bytes_of(question: VramQuestion, moments: float) -> tuple[float, float, float]:
    """Return bytes per parameter of weights, gradients and optimizer with its copies; ``moments``: those of the optimizer alone."""
    if question.is_float32:
        return 4.0, 4.0, moments
    return (2.0, 2.0, 8.0 + moments) if question.precision == "fp16" else (2.0, 4.0, 4.0 + moments)


def activation_parts(question: VramQuestion) -> float:
    """Return by what tensor parallelism divides a layer's activations."""
    ways = question.layer_parts
    return ways if question.is_sequence_parallel else 1 / (_KEPT_WHOLE + (1 - _KEPT_WHOLE) / ways)
