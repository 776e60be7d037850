"""GPU memory per card as a sum of terms with a range; arithmetic only, nothing fitted.

Sources: Rajbhandari et al. 2020 (ZeRO: 16 bytes per parameter in mixed precision, and what each stage shards; 7.5 B
parameters on 64 cards: 120, 31.4, 16.6, 1.9 GB); Korthikanti et al. 2022 (activations: 34 x tokens x hidden per layer,
without what flash attention saves); Dettmers et al. 2023 (4-bit NF4 with double quantization: 65 B parameters on one
48 GB card). ``docs/vram-model.md`` says how far each term was from published measurements.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm
from gpu_lol_action.estimation.model_facts import ModelFacts

GB = 1e9
GIB = 2**30

CONTEXT_GB = 0.6  # CUDA context and kernels of one process
FRAGMENTATION = 0.03  # of weights and optimizer state
FOUR_BIT_BYTES = 0.56  # 4.5 bits with scales of double quantization
EIGHT_BIT_BYTES = 1.05  # one byte and the outliers that stay at 16 bit
FULL_ACTIVATION = 34  # bytes per token, hidden unit and layer at 16 bit
CHECKPOINT_BYTES = 2  # what gradient checkpointing keeps per token, hidden unit and layer
LOGIT_BYTES = 8  # logits and their gradient, 4 bytes each
ADAPTER_BYTES = 16  # weight, gradient and two moments of a trainable adapter parameter
PAGED_ADAPTER_BYTES = 8  # a paged optimizer's moments go to main memory when the card is full

# How far off published measurements the sum is, below and above (mean absolute errors, wider where it is known to be low).
_RANGES = {
    "inference": (0.10, 0.15),
    "lora": (0.18, 0.25),
    "qlora": (0.20, 0.35),
    "full": (0.20, 0.30),
    "pretrain": (0.20, 0.35),
}


class Method(enum.Enum):
    """How the model is used."""

    INFERENCE = "inference"
    LORA = "lora"
    QLORA = "qlora"
    FULL = "full"
    PRETRAIN = "pretrain"

    @property
    def trains(self) -> bool:
        """Whether gradients are kept."""
        return self is not Method.INFERENCE


class Sharding(enum.Enum):
    """What is divided among the cards: nothing, optimizer state, also gradients, also weights."""

    NONE = "none"
    ZERO1 = "zero-1"
    ZERO2 = "zero-2"
    ZERO3 = "zero-3"
    TENSOR = "tensor parallel"


@dataclass(frozen=True, slots=True)
class VramQuestion:
    """What is run. ``precision`` bf16, fp16, fp32; ``weight_bits`` 4, 8, 16 or 32 as weights lie in memory; sizes per card."""

    model: ModelFacts
    method: Method
    precision: str = "bf16"
    weight_bits: int = 16
    optimizer: str = "adamw"
    batch_size: int = 1
    sequence_length: int = 2048
    is_checkpointing: bool = False
    sharding: Sharding = Sharding.NONE
    gpu_count: int = 1
    lora_rank: int = 16
    is_lora_everywhere: bool = False
    is_pure_low_precision: bool = False
    is_loss_chunked: bool = False


def estimate_vram(question: VramQuestion) -> MemoryBreakdown:
    """Return the breakdown per card in GiB, with low, expected, high, and what a card must offer."""
    terms = [*_weight_terms(question), *_activation_terms(question)]
    state = sum(term.gib for term in terms if term.name in {"weights", "gradients", "optimizer", "adapters"})
    terms.append(
        MemoryTerm("overhead", CONTEXT_GB * GB / GIB + state * FRAGMENTATION, "CUDA context, kernels, fragmentation")
    )
    kept = tuple(term for term in terms if term.gib >= 0.005)
    return breakdown_of(kept, question.method.value, _notes(question))


def breakdown_of(terms: tuple[MemoryTerm, ...], method: str, notes: tuple[str, ...]) -> MemoryBreakdown:
    """Sum terms into a range. Required is half-way from expected to high, rounded up: a run that does not fit dies."""
    expected = sum(term.gib for term in terms)
    below, above = _RANGES.get(method, (0.3, 0.4))
    high = expected * (1 + above)
    required = math.ceil((expected + high) / 2 - 0.05)
    return MemoryBreakdown(
        terms, round(expected * (1 - below), 1), round(expected, 1), round(high, 1), float(required), method, notes
    )


def least_cards(question: VramQuestion, card_gib: float, choices: tuple[int, ...] = (1, 2, 4, 8)) -> int | None:
    """Return the fewest cards of that size on which the run fits when everything is sharded; None where even eight are too few."""
    for count in choices:
        sharding = question.sharding if count == 1 else _full_sharding(question)
        asked = _with(question, count, sharding)
        if estimate_vram(asked).required_gib <= card_gib:
            return count
    return None


def sharded(question: VramQuestion, count: int) -> VramQuestion:
    """Return the same run on several cards with everything sharded that can be."""
    return _with(question, count, _full_sharding(question))


def _full_sharding(question: VramQuestion) -> Sharding:
    return Sharding.ZERO3 if question.method.trains else Sharding.TENSOR


def _with(question: VramQuestion, count: int, sharding: Sharding) -> VramQuestion:
    return replace(question, gpu_count=count, sharding=sharding)


def _weight_terms(question: VramQuestion) -> list[MemoryTerm]:
    if question.method in {Method.FULL, Method.PRETRAIN}:
        return _trained_terms(question)
    model = question.model
    size = _stored_gb(model, question.weight_bits)
    if question.method is Method.QLORA:
        size += model.embedding_b * 2  # peft's preparation for k-bit training turns what is not quantized to 32 bit
    shown = {4: "4 bit", 8: "8 bit", 16: "16 bit", 32: "32 bit"}[question.weight_bits]
    parts = question.gpu_count if question.sharding in {Sharding.ZERO3, Sharding.TENSOR} else 1
    terms = [
        _term("weights", size / parts, f"{model.name}, {model.parameters_b:.3g} B parameters, {shown}{_over(parts)}")
    ]
    if question.method in {Method.LORA, Method.QLORA}:
        trainable = adapter_parameters_b(model, question.lora_rank, is_everywhere=question.is_lora_everywhere)
        each = PAGED_ADAPTER_BYTES if "paged" in question.optimizer.lower() else ADAPTER_BYTES
        basis = f"rank {question.lora_rank}, {trainable * 1000:.3g} M trainable parameters, {question.optimizer}"
        terms.append(_term("adapters", trainable * each, basis))
    return terms


def _stored_gb(model: ModelFacts, bits: int) -> float:
    """Return weights in GB; quantizers leave embeddings and head at 16 bit."""
    if bits in {4, 8}:
        per = FOUR_BIT_BYTES if bits == 4 else EIGHT_BIT_BYTES
        return (model.parameters_b - model.embedding_b) * per + model.embedding_b * 2
    return model.parameters_b * bits / 8


def _trained_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return weights, gradients and optimizer state of a model whose every parameter is trained.

    Mixed precision and fp32 need 16 bytes per parameter alike; pure 16-bit training 8 (moments at 16 bit too).
    """
    model, count = question.model, max(question.gpu_count, 1)
    weights, gradients, state = _bytes_per_parameter(question)
    stage = question.sharding
    over_state = count if stage in {Sharding.ZERO1, Sharding.ZERO2, Sharding.ZERO3} else 1
    over_gradients = count if stage in {Sharding.ZERO2, Sharding.ZERO3} else 1
    over_weights = count if stage is Sharding.ZERO3 else 1
    size = model.parameters_b
    return [
        _term(
            "weights",
            size * weights / over_weights,
            f"{model.name}, {size:.3g} B parameters, {question.precision}{_over(over_weights)}",
        ),
        _term(
            "gradients", size * gradients / over_gradients, f"{gradients:g} bytes per parameter{_over(over_gradients)}"
        ),
        _term(
            "optimizer",
            size * state / over_state,
            f"{question.optimizer}, {state:g} bytes per parameter{_over(over_state)}",
        ),
    ]


def _bytes_per_parameter(question: VramQuestion) -> tuple[float, float, float]:
    """Return bytes per parameter of weights, gradients and optimizer state (with its 32-bit copy of the weights)."""
    name = question.optimizer.lower()
    if question.is_pure_low_precision:
        moments = 2.0 if "8bit" in name or "8-bit" in name else _moments(name, 2)
        return 2.0, 2.0, moments
    copy = 4.0 if question.precision in {"bf16", "fp16"} else 0.0
    weights = 2.0 if copy else 4.0
    moments = 2.0 if "8bit" in name or "8-bit" in name else _moments(name, 4)
    return weights, weights, copy + moments


def _moments(optimizer: str, per_moment: float) -> float:
    """Return bytes of what the optimizer remembers per parameter: Adam two moments, momentum one, Adafactor next to none."""
    if "adafactor" in optimizer or "sm3" in optimizer:
        return 0.1
    if "sgd" in optimizer or "lion" in optimizer or "rmsprop" in optimizer or "muon" in optimizer:
        return per_moment
    return 2 * per_moment


def _activation_terms(question: VramQuestion) -> list[MemoryTerm]:
    model = question.model
    if not model.has_shape:
        return _shapeless_terms(question)
    tokens = question.batch_size * question.sequence_length
    shown = f"batch {question.batch_size} x {question.sequence_length} tokens"
    parts = question.gpu_count if question.sharding is Sharding.TENSOR else 1
    if question.method is Method.INFERENCE:
        if model.kind in {"vision", "vision-text", "encoder", "embedding"}:
            return [_term("activations", tokens * FULL_ACTIVATION * model.hidden_size / GB, f"one layer, {shown}")]
        head = model.hidden_size / max(model.attention_heads, 1)
        cache = 2 * model.layers * max(model.kv_heads, 1) * head * tokens * 2 / GB
        return [_term("KV cache", cache / parts, f"{shown}, 16 bit{_over(parts)}")]
    wide = 2 if question.precision == "fp32" else 1  # the count of bytes is for 16 bit
    if question.is_checkpointing:
        amount = (CHECKPOINT_BYTES * model.layers + FULL_ACTIVATION) * tokens * model.hidden_size * wide
        basis = f"{shown}, gradient checkpointing"
    else:
        amount = FULL_ACTIVATION * tokens * model.hidden_size * model.layers * wide
        basis = f"{shown}, no gradient checkpointing"
    terms = [_term("activations", amount / GB, basis)]
    if (
        model.vocabulary
        and not question.is_loss_chunked
        and model.kind not in {"encoder", "embedding", "vision", "vision-text"}
    ):
        terms.append(_term("logits", LOGIT_BYTES * tokens * model.vocabulary / GB, f"vocabulary {model.vocabulary}"))
    return terms


def _shapeless_terms(question: VramQuestion) -> list[MemoryTerm]:
    """Return a rough term where no shape is known: half of the weights for inference, 4 GB per B parameters and training sample of diffusion."""
    model = question.model
    if question.method is Method.INFERENCE:
        rough = 0.5 * model.parameters_b * question.weight_bits / 8 + (
            2.0 if model.kind.startswith("diffusion") else 0.3
        )
        return [_term("activations", rough, f"rough: {model.kind} models vary with resolution")]
    per_sample = 4.0 * model.parameters_b if model.kind.startswith("diffusion") else 0.1
    base = per_sample / 2 if question.is_checkpointing else per_sample
    return [
        _term("activations", base * question.batch_size, f"rough: {base:.2g} GB per sample of a {model.kind} model")
    ]


def adapter_parameters_b(model: ModelFacts, rank: int, *, is_everywhere: bool) -> float:
    """Return trainable parameters of LoRA in billions: rank x (in + out) per adapted matrix; by default query and value."""
    if not model.has_shape:
        return model.parameters_b * 0.01
    hidden = model.hidden_size
    kv = hidden * max(model.kv_heads, 1) / max(model.attention_heads, 1)
    inner = 3.5 * hidden  # feed-forward width: 2.7 (Llama 2) to 4 (GPT) times the hidden size
    attention = (hidden + hidden) + (hidden + kv)
    everything = 2 * (hidden + hidden) + 2 * (hidden + kv) + 3 * (hidden + inner)
    return rank * model.layers * (everything if is_everywhere else attention) / 1e9


def _notes(question: VramQuestion) -> tuple[str, ...]:
    notes = []
    if question.model.source == "name":
        notes.append(f"size read off the model's name; {question.model.note}")
    if not question.model.has_shape:
        notes.append("activations are rough, because the model's shape is not known")
    if question.sharding is Sharding.NONE and question.gpu_count > 1 and question.method.trains:
        notes.append("each card holds a whole copy: nothing was found that shards")
    return tuple(notes)


def _term(name: str, gb: float, basis: str) -> MemoryTerm:
    return MemoryTerm(name, round(gb * GB / GIB, 3), basis)


def _over(parts: int) -> str:
    return f", over {parts} cards" if parts > 1 else ""
