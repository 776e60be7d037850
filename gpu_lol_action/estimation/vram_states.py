"""Bytes per parameter: of stored weights by quantization, of gradients, and of what an optimizer remembers.

Sources, by constant or function below: Dettmers et al. 2022 (LLM.int8, block-wise 8-bit optimizers) and 2023 (NF4, double
quantization); Frantar et al. 2023 and Lin et al. 2023 (GPTQ, AWQ: groups of 128); llama.cpp's k-quants (bits per weight);
Rajbhandari et al. 2020 (16 bytes of mixed precision with Adam).
"""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.low_rank import has_quantized_weights, projection_width, remembered
from gpu_lol_action.estimation.megatron import MEGATRON, bytes_of
from gpu_lol_action.estimation.vram_question import Method, VramQuestion

# Bytes per quantized parameter with its scales.
_NF4 = 0.5 + 4 / 64  # a 32-bit scale for each block of 64 (Dettmers et al. 2023, section 3)
_NF4_DOUBLE = 0.5 + 1 / 64 + 4 / (64 * 256)  # scales at 8 bits, their scales at 32 per 256 blocks: 0.127 bits in all
_GROUPED = 2.5 / 128  # a 16-bit scale and a 4-bit zero point for each group of 128
_INT8 = 1.0 + 0.05  # LLM.int8: a 32-bit scale per row, and the outlier columns' 16-bit copies
QUANTIZATIONS: Mapping[str, float] = {
    "nf4": _NF4,
    "fp4": _NF4,
    "nf4-dq": _NF4_DOUBLE,
    "fp4-dq": _NF4_DOUBLE,
    "int4": 0.5 + _GROUPED,
    "gptq": 0.5 + _GROUPED,
    "awq": 0.5 + _GROUPED,
    "mxfp4": 0.5 + 1 / 32,  # an 8-bit exponent for each block of 32 (OCP Microscaling)
    "nvfp4": 0.5 + 1 / 16,
    "int3": 3 / 8 + _GROUPED,
    "int2": 2 / 8 + _GROUPED,
    "aqlm": 2 / 8 + _GROUPED,
    "int8": _INT8,
    "gptq-8bit": 1.0 + _GROUPED,
    "fp8": 1.0,
    "q2_k": 2.63 / 8,
    "q3_k": 3.44 / 8,
    "q4_0": 4.5 / 8,
    "q4_1": 5.0 / 8,
    "q4_k": 4.5 / 8,
    # Mixtures, as llama.cpp's `tools/quantize/README.md` measured them on Llama 3.1 8B: some matrices lie wider.
    "q4_k_s": 4.6672 / 8,
    "q4_k_m": 4.8944 / 8,
    "q5_0": 5.5 / 8,
    "q5_1": 6.0 / 8,
    "q5_k": 5.5 / 8,
    "q5_k_s": 5.5704 / 8,
    "q5_k_m": 5.7036 / 8,
    "q6_k": 6.56 / 8,
    "q8_0": 8.5 / 8,
}
# GGUF quantizes embeddings and head too; the others leave them at 16 bit.
_EVERYTHING = regex(r"^i?q\d")
_BY_BITS: Mapping[int, str] = {2: "int2", 3: "int3", 4: "nf4-dq", 8: "int8"}

# Moments that an optimizer keeps per parameter; the first that occurs in its name counts. Anything else is taken for Adam.
_MOMENTS: tuple[tuple[str, float], ...] = (
    ("adafactor", 0.025),  # a row and a column in place of a matrix (Shazeer and Stern 2018)
    ("came", 0.05),
    ("sm3", 0.025),
    ("galore", 0.5),  # in a subspace of a quarter of the width; ``low_rank`` counts it where the model's shape is known
    ("apollo", 0.02),
    ("adam-mini", 1.0),  # one learning rate per block (Zhang et al. 2024)
    ("adam_mini", 1.0),
    ("adan", 3.0),
    ("lomo", 0.0),
    ("signsgd", 0.0),
    ("sgd", 1.0),  # the momentum; plain descent would have none
    ("lion", 1.0),  # Chen et al. 2023
    ("muon", 1.0),  # Jordan et al. 2024
    ("rmsprop", 1.0),
    ("adagrad", 1.0),
    ("tiger", 1.0),
)
# Optimizers that train a block of layers at a time (Luo et al. 2024; Pan et al. 2024): gradients and state of the others are not there.
_BLOCKWISE = regex(r"badam|\blisa\b")
LISA_LAYERS = 2  # that LISA trains besides embeddings and head (Pan et al. 2024, section 4)
# Each layer's update is done in the backward pass, and its gradient freed: what is named so. GaLore and APOLLO do it by a switch.
_FREES_GRADIENTS = regex(r"lomo|in[_ -]?b(?:ac)?k?wa?r?d|layer_?wise|per_layer|fused[_ -]backward")
# Updates the 16-bit weights themselves, without 32-bit copies (LOMO: Lv et al. 2023; AdaLomo keeps factored moments besides).
_IN_PLACE = regex(r"lomo")
_EIGHT_BIT = regex(r"8[_-]?bit|bnb8|int8|fp8")
_FOUR_BIT = regex(r"4[_-]?bit|int4")


def bits_of(scheme: str) -> int:
    """Return how wide a scheme's weights are in whole bits, their scales left aside: 4 for ``gptq`` and ``nf4``, 2 for ``aqlm``."""
    return max(2, min(8, round(QUANTIZATIONS[scheme] * 8 - 0.49)))


def scheme_of(question: VramQuestion) -> str:
    """Return the quantization of the frozen weights; an empty text for 16 and 32 bit."""
    name = question.quantization.lower().replace("double", "dq")
    if name in QUANTIZATIONS:
        return name
    near = regex(r"i?(q\d_[k\d])").match(name)
    if near and near[1] in QUANTIZATIONS:
        return near[1]
    return _BY_BITS.get(question.weight_bits, "")


def stored_gb(question: VramQuestion) -> float:
    """Return the size in GB of the weights as they lie in memory; quantizers leave embeddings and head at 16 bit."""
    model, scheme = question.model, scheme_of(question)
    if not scheme:
        return model.parameters_b * question.weight_bits / 8
    kept = 0.0 if _EVERYTHING.match(scheme) else model.embedding_b
    return (model.parameters_b - kept) * QUANTIZATIONS[scheme] + kept * 2


def moment_bytes(optimizer: str, bytes_each: float) -> float:
    """Return what the optimizer remembers per trained parameter; 8-bit moments are a byte (and a scale per 256 of them)."""
    name = optimizer.lower()
    each = next((number for word, number in _MOMENTS if word in name), 2.0)
    if _EIGHT_BIT.search(name):
        return each * 1.0
    if _FOUR_BIT.search(name):
        return each * 0.53
    return each * bytes_each


def moments_gb(question: VramQuestion) -> float:
    """Return what the optimizer remembers of a model of which everything is trained, in GB, before anything divides it."""
    model, width = question.model, moment_width(question)
    kept = remembered(question.optimizer, model, question.optimizer_rank)
    if kept is None:
        return model.parameters_b * moment_bytes(question.optimizer, width)
    each = 1.0 if _EIGHT_BIT.search(question.optimizer.lower()) else width
    return kept.moments_b * each + kept.projections_b * projection_width(question.optimizer, each)


def moment_width(question: VramQuestion) -> float:
    """Return bytes of one moment: those of the weights that are trained, 2 in pure 16-bit training; BAdam's are of 32 bits."""
    if "badam" in question.optimizer.lower():
        return 4.0
    return 2.0 if question.is_pure_low_precision and not question.is_float32 else 4.0


def trained_bytes(question: VramQuestion) -> tuple[float, float, float]:
    """Return bytes per trained parameter of weights, gradients and optimizer state (with its 32-bit copy of the weights).

    fp32: 4 + 4 + 8. Mixed precision: 2 + 2 + 4 + 8 (Rajbhandari et al. 2020). Pure 16 bit: 2 + 2 + 4. Adam in each. A paged
    optimizer's moments go to main memory when the card is full. BAdam keeps weights at 16 bit, and of its block gradients and
    copies at 32 (Luo et al. 2024: 2 bytes per parameter, 16 per parameter of a block). Q-GaLore's and Q-APOLLO's weights lie at 8 bit.
    """
    size = question.model.parameters_b
    moments = 0.0 if is_paged(question) or not size else moments_gb(question) / size
    if "badam" in question.optimizer.lower():
        return (4.0 if question.is_float32 else 2.0), 4.0, (0.0 if question.is_float32 else 4.0) + moments
    if question.runtime == MEGATRON:
        return bytes_of(question, moments)
    if has_quantized_weights(question.optimizer):
        return 1.0, 2.0, moments
    if question.is_float32:
        return 4.0, 4.0, moments
    if question.is_pure_low_precision or _IN_PLACE.search(question.optimizer.lower()):
        return 2.0, 2.0, moments
    return 2.0, 2.0, 4.0 + moments


def is_gradient_freed(question: VramQuestion) -> bool:
    """Whether each gradient is used and freed during the backward pass, so that never all are there."""
    return question.is_gradient_freed or bool(_FREES_GRADIENTS.search(question.optimizer.lower()))


def is_blockwise(question: VramQuestion) -> bool:
    """Whether one layer at a time is trained."""
    return bool(_BLOCKWISE.search(question.optimizer.lower()))


def trained_at_once_b(question: VramQuestion) -> float:
    """Return the parameters in billions that have gradients and state at a time: all, BAdam's layer, LISA's layers and embeddings."""
    model = question.model
    if not is_blockwise(question):
        return model.parameters_b
    layer = (model.parameters_b - model.embedding_b) / max(model.layers, 1)
    return layer if "badam" in question.optimizer.lower() else model.embedding_b + LISA_LAYERS * layer


def largest_gradient_b(question: VramQuestion) -> float:
    """Return the parameters in billions whose gradients are there where each is freed at once: a layer, or the embeddings."""
    model = question.model
    return max(trained_at_once_b(question) / max(model.layers, 1), model.vocabulary * model.hidden_size / 1e9)


def adapter_bytes(question: VramQuestion) -> float:
    """Return bytes per adapter parameter: weight and gradient at 32 bit, as peft and trainers keep them, and the moments."""
    return 8.0 + (0.0 if is_paged(question) else moment_bytes(question.optimizer, 4.0))


def is_paged(question: VramQuestion) -> bool:
    """Whether the optimizer's moments may leave the card (Dettmers et al. 2023: unified memory)."""
    return "paged" in question.optimizer.lower()


def keeps_16_bit_copies(question: VramQuestion) -> bool:
    """Whether autocast keeps 16-bit copies of 32-bit weights for the backward pass: mixed precision without DeepSpeed or FSDP.

    Optimizers that train 16-bit weights in place or a block at a time leave nothing to copy.
    """
    name = question.optimizer.lower()
    is_narrow = (
        question.runtime == MEGATRON
        or bool(_IN_PLACE.search(name))
        or is_blockwise(question)
        or has_quantized_weights(name)
    )
    return (
        question.method in {Method.FULL, Method.PRETRAIN}
        and question.is_mixed
        and not is_narrow
        and not question.sharding.divides_state
        and not question.is_states_only
    )
