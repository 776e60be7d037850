"""Weights of layers, from their arguments by place and name: in x out x kernel, and a bias."""

from __future__ import annotations

import math

from gpu_lol_action.analysis.networks.arguments import first_number, number
from gpu_lol_action.analysis.networks.attention import ATTENTION, attention_parameters
from gpu_lol_action.analysis.networks.values import UNKNOWN, Layer, Tensor, Value
from gpu_lol_action.domain.patterns import regex

CONV = regex(
    r"^(?:Lazy|Causal|EqualizedLR)?Conv(Transpose)?([123])[dD]$|^Conv([123])D(Transpose)?$|^(?:SeparableConv2D|DepthwiseConv2D|Conv|ConvTranspose|Conv2dNormActivation|ConvNormActivation|ConvModule)$"
)
POOL = regex(r"^(Adaptive|Global)?(?:Max|Avg|Average)_?[Pp]ool(?:ing)?_?([123])?[dD]?$")
RECURRENT = {"LSTM": 4, "GRU": 3, "RNN": 1, "SimpleRNN": 1, "LSTMCell": 4, "GRUCell": 3, "RNNCell": 1}
NORM = regex(
    r"^(?:Lazy)?(?:Batch|Layer|Group|Instance|RMS|Sync)\w*Norm(?:alization)?(?:[123][dD])?$|^FrozenBatchNorm2d$"
)
TABLES = frozenset({"Embedding", "EmbeddingBag", "Embed", "ParallelEmbedding", "VocabParallelEmbedding"})
DENSE = frozenset(
    {
        "Linear",
        "LazyLinear",
        "Dense",
        "NonDynamicallyQuantizableLinear",
        "Linear8bitLt",
        "DenseGeneral",
        "ColumnParallelLinear",
        "RowParallelLinear",
    }
)


_ARGUMENTS = {"kernel_size": (2, 3), "stride": (3, 1), "padding": (4, 0), "dilation": (5, 1), "groups": (6, 1)}
"""Arguments of PyTorch's convolutions by their places, and what they start with."""


def layer_number(layer: Layer, name: str) -> Value:
    """Return what a layer says of its own sizes, its weights as a tensor; None for anything else."""
    if name in {"in_features", "in_channels"}:
        return number(layer, 0, name)
    if name in {"out_features", "out_channels", "embedding_dim"}:
        return number(layer, 1, name)
    if name == "weight":
        return Tensor(layer.parameters, _weight_sides(layer))
    if name in _ARGUMENTS and CONV.match(layer.kind) and not layer.is_last:
        place, default = _ARGUMENTS[name]
        place += "ranspose" in layer.kind and name in {"dilation", "groups"}
        value = layer.named.get(name, layer.places[place] if len(layer.places) > place else default)
        is_one = isinstance(value, int) and name != "groups"  # of each side
        return [value] * rank_of(layer) if is_one else value
    return UNKNOWN if name in {"bias", *_ARGUMENTS} else None


def _weight_sides(layer: Layer) -> tuple[float, ...] | None:
    """Return the sides of the weights of a dense layer or convolution: out, in, and those of its kernel; rows and width of a table."""
    is_dense = layer.kind in DENSE
    if layer.kind == "Embedding" and not layer.is_last:
        rows, width = number(layer, 0, "num_embeddings"), number(layer, 1, "embedding_dim")
        return (rows, width) if rows and width else None
    if layer.is_last or not (is_dense or CONV.match(layer.kind)):
        return None
    inner = number(layer, 0, "in_features", "in_channels")
    outer = number(layer, 1, "out_features", "out_channels")
    if not inner or not outer or is_dense:
        return (outer, inner) if inner and outer else None
    inner /= max(number(layer, 6, "groups", default=1.0) or 1.0, 1.0)
    sides = layer.named.get("kernel_size", layer.places[2] if len(layer.places) > 2 else 3)
    kernel = sides if isinstance(sides, list) else [sides] * rank_of(layer)
    if not all(isinstance(side, (int, float)) for side in kernel):
        return None
    first = (inner, outer) if "ranspose" in layer.kind else (outer, inner)
    return (*first, *(float(side) for side in kernel))


def weights_of(layer: Layer) -> float | None:
    """Return a layer's weights; None where its arguments are not known, or only what goes in will tell."""
    kind = layer.kind
    if CONV.match(kind):
        inner, outer = number(layer, 0, "in_channels"), number(layer, 1, "out_channels")
        return None if layer.is_last or not inner or not outer else conv_weights(layer, inner, outer, shift=2)
    if kind in DENSE:
        if kind in {"Dense", "LazyLinear", "DenseGeneral"} or layer.is_last:
            return None
        inner, outer = number(layer, 0, "in_features"), number(layer, 1, "out_features")
        return inner * outer + (0.0 if layer.named.get("bias") is False else outer) if inner and outer else None
    if kind in TABLES:
        rows = number(layer, 0, "num_embeddings", "input_dim")
        width = number(layer, 1, "embedding_dim", "output_dim", "features")
        return rows * width if rows and width else None
    if kind in ATTENTION:
        return attention_parameters(layer)
    if kind in RECURRENT and not layer.is_last:
        return recurrent_weights(layer, number(layer, 0, "input_size"))
    if NORM.match(kind):
        shape = layer.places[0] if layer.places else next(iter(layer.named.values()), UNKNOWN)
        width = number(
            layer, 1 if kind == "GroupNorm" else 0, "num_channels", "num_features", "normalized_shape", "dim"
        )
        if isinstance(shape, list) and kind == "LayerNorm":
            return 2 * math.prod(side for side in shape if isinstance(side, (int, float)))
        return 2 * width if width else 0.0
    return 0.0


def conv_weights(layer: Layer, inner: float, outer: float, *, shift: int) -> float:
    """Return the weights of a convolution."""
    rank = rank_of(layer)
    groups = number(layer, 6 if not layer.is_last else -1, "groups", "feature_group_count", default=1.0) or 1.0
    if layer.kind == "DepthwiseConv2D":
        groups, outer = inner, inner
    sides = layer.named.get("kernel_size", layer.places[shift] if len(layer.places) > shift else 3)
    kernel = math.prod(sides) if isinstance(sides, list) and all(isinstance(s, (int, float)) for s in sides) and len(sides) == rank else (first_number(sides) or 3.0) ** rank  # fmt: skip
    bias = 0.0 if layer.named.get("bias") is False or layer.named.get("use_bias") is False else outer
    return inner * outer / max(groups, 1.0) * kernel + bias


def rank_of(layer: Layer) -> int:
    """Return over how many sides a convolution goes."""
    found = regex(r"[123]").search(layer.kind)
    sides = layer.named.get("kernel_size", layer.places[1] if len(layer.places) > 1 else None)
    return int(found[0]) if found else len(sides) if isinstance(sides, list) and sides else 2


def recurrent_weights(layer: Layer, inner: float | None) -> float | None:
    """Return the weights of a recurrent layer; None where its width is not known."""
    width = number(layer, 0, "units", "features") if layer.is_last else number(layer, 1, "hidden_size")
    layers = (number(layer, 2, "num_layers", default=1.0) or 1.0) if not layer.is_last else 1.0
    ways = 2.0 if layer.named.get("bidirectional") is True else 1.0
    if not width:
        return None
    gates = RECURRENT[layer.kind]
    first = ways * gates * width * ((inner or width) + width + 2)
    return first + (layers - 1) * ways * gates * width * (ways * width + width + 2)
