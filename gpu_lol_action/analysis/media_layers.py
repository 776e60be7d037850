"""Parameters and outputs of single layers, by the names that PyTorch, Keras and JAX's libraries give them.

``size`` is the side of the picture that flows through the layers in the order in which they are built; convolutions and pools
change it. Formulas are those of the layers themselves: weights in x out x kernel, and a bias.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

MOST_SIDE = 4096


@dataclass(slots=True)
class Count:
    """What was summed up so far. ``size`` 0: no picture flows; ``is_sequence``: positions of a text or a sound do."""

    size: float = 0.0
    channels: int = 0
    parameters: float = 0.0
    outputs: float = 0.0
    layers: int = 0
    unknown: int = 0
    is_sequence: bool = False
    last_block: tuple[float, float] = (0.0, 0.0)  # parameters and outputs of the last block that a stack may repeat


@dataclass(frozen=True, slots=True)
class Given:
    """A layer's arguments that are known numbers: by place (None where unknown) and by name."""

    places: tuple[float | list[float] | None, ...]
    names: Mapping[str, float | list[float]]

    def product(self, place: int, *names: str, rank: int, default: float) -> float:
        """Return the product of an argument's sides, which is its power where one number stands for all."""
        given = next((self.names[name] for name in names if name in self.names), None)
        if given is None and 0 <= place < len(self.places):
            given = self.places[place]
        if isinstance(given, list):
            return math.prod(given) if len(given) == rank else (given[0] if given else default) ** rank
        return (given or default) ** rank

    def number(self, place: int, *names: str, default: float | None = None) -> float | None:
        """Return the argument of that place or one of these names."""
        for name in names:
            if name in self.names:
                return _first(self.names[name])
        if 0 <= place < len(self.places) and self.places[place] is not None:
            return _first(self.places[place])
        return default


def _first(value: float | list[float] | None) -> float | None:
    return (value[0] if value else None) if isinstance(value, list) else value


_CONV = re.compile(
    r"^(?:Lazy)?Conv(Transpose)?([123])[dD]$|^Conv([123])D(Transpose)?$|^SeparableConv2D$|^DepthwiseConv2D$"
)
_POOL = re.compile(r"^(?:Max|Avg|Average)_?[Pp]ool(?:ing)?_?[123][dD]$|^(?:max|avg)_pool[123]d$")
_RECURRENT = {"LSTM": 4, "GRU": 3, "RNN": 1, "SimpleRNN": 1, "LSTMCell": 4, "GRUCell": 3, "RNNCell": 1}
_NORM = re.compile(r"^(?:Batch|Layer|Group|Instance|RMS|Sync)\w*Norm\w*$")
KNOWN = frozenset({"Linear", "LazyLinear", "Dense", "Embedding", "EmbeddingBag", "Bilinear", "MultiheadAttention",
                   "MultiHeadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer", "Upsample",
                   "Attention", "Mlp", "Flatten", "AdaptiveAvgPool2d", "GlobalAveragePooling2D", *_RECURRENT})  # fmt: skip


def is_layer(name: str) -> bool:
    """Whether a call of that last word builds a layer that is counted here."""
    return name in KNOWN or bool(_CONV.match(name) or _POOL.match(name) or _NORM.match(name))


def add_layer(count: Count, name: str, given: Given, *, is_keras: bool) -> None:
    """Add a layer's parameters and outputs; what cannot be known is counted as unknown."""
    before = count.parameters
    if _CONV.match(name):
        _add_convolution(count, name, given, is_keras=is_keras)
    elif _POOL.match(name):
        step = given.number(1, "stride", "strides") or given.number(0, "kernel_size", "pool_size", default=2.0) or 2.0
        count.size = max(count.size / max(min(step, 16), 1), 1.0) if count.size else 0.0
    elif name in _RECURRENT:
        _add_recurrent(count, name, given, is_keras=is_keras)
    elif name in {"Embedding", "EmbeddingBag"}:
        rows, width = given.number(0, "num_embeddings", "input_dim"), given.number(1, "embedding_dim", "output_dim")
        _add(count, rows, width, bias=0, copies=1)
        count.is_sequence = count.is_sequence or name == "Embedding"
    elif name == "Upsample":
        count.size = min(count.size * (given.number(-1, "scale_factor", default=2.0) or 2.0), MOST_SIDE)
    elif name in {"Flatten", "AdaptiveAvgPool2d", "GlobalAveragePooling2D"}:
        if name == "Flatten" and count.size:
            count.channels = int(min(count.channels * count.size**2, 1e9))
        count.size = 1.0 if count.size else 0.0
    elif name == "Mlp":  # timm's
        width = given.number(0, "in_features")
        _add(count, width, 2 * (given.number(1, "hidden_features") or 4 * (width or 0)))
    elif name.startswith(("Transformer", "Multi", "Attention")):
        _add_attention(count, name, given)
    elif not _NORM.match(name):
        _add_dense(count, name, given, is_keras=is_keras)
    count.layers += count.parameters > before


def _add(count: Count, inner: float | None, outer: float | None, *, bias: int = 1, copies: int = 2) -> None:
    if not inner or not outer:
        count.unknown += 1
        return
    count.parameters += inner * outer + bias * outer
    count.outputs += copies * outer  # what follows keeps as much again


def _add_dense(count: Count, name: str, given: Given, *, is_keras: bool) -> None:
    if is_keras or name in {"Dense", "LazyLinear"}:
        outer = given.number(0, "units", "features", "out_features")
        inner = float(count.channels * max(count.size, 1) ** 2) if count.channels else None
        _add(count, inner or outer, outer)
        count.size = 1.0 if count.size else 0.0
    else:
        outer = given.number(1, "out_features")
        _add(count, given.number(0, "in_features"), outer)
    count.channels = int(outer or 0)


def _add_convolution(count: Count, name: str, given: Given, *, is_keras: bool) -> None:
    shift = 0 if is_keras else 1
    inner = float(count.channels or 3) if is_keras else given.number(0, "in_channels")
    outer = given.number(0 + shift, "filters", "features", "out_channels")
    step = given.number(2 + shift, "stride", "strides", default=1.0) or 1.0
    groups = given.number(6, "groups", default=1.0) or 1.0
    found = re.search(r"[123]", name)
    rank = int(found[0]) if found else 2
    kernel = given.product(1 + shift, "kernel_size", rank=rank, default=3.0)
    if count.size:
        count.size = min(count.size * step, MOST_SIDE) if "ranspose" in name else max(count.size / max(step, 1), 1.0)
    if not inner or not outer:
        count.unknown += 1
        return
    count.parameters += inner * outer / max(groups, 1) * kernel + outer
    positions = max(count.size, 1.0) ** min(rank, 2) if rank > 1 else 1.0
    count.outputs += outer * positions * 2  # the norm or activation behind it keeps as much again
    count.channels = int(outer)
    count.is_sequence = count.is_sequence or rank == 1


def _add_recurrent(count: Count, name: str, given: Given, *, is_keras: bool) -> None:
    gates = _RECURRENT[name]
    inner = float(count.channels or 0) if is_keras else given.number(0, "input_size")
    width = given.number(0, "units") if is_keras else given.number(1, "hidden_size")
    layers = (given.number(2, "num_layers", default=1.0) or 1.0) if not is_keras else 1.0
    ways = 2.0 if given.names.get("bidirectional") else 1.0
    if not width:
        count.unknown += 1
        return
    count.parameters += ways * gates * width * ((inner or width) + width + 2)
    count.parameters += (layers - 1) * ways * gates * width * (ways * width + width + 2)
    count.outputs += ways * layers * width * (gates + 2)
    count.is_sequence = True
    count.channels = int(width * ways)


def _add_attention(count: Count, name: str, given: Given) -> None:
    width = given.number(0, "d_model", "embed_dim", "key_dim", "dim", default=512.0 if name == "Transformer" else None)
    if not width:
        count.unknown += 1
        return
    count.is_sequence = True
    if name.startswith(("Multi", "Attention")):
        count.parameters += 4 * width * (width + 1)
        count.outputs += 5 * width
        return
    inner = given.number(2, "dim_feedforward", default=2048.0) or 2048.0
    blocks = 1.0
    if name == "Transformer":
        inner = given.number(4, "dim_feedforward", default=2048.0) or 2048.0
        blocks = (given.number(2, "num_encoder_layers", default=6.0) or 6.0) + 1.5 * (
            given.number(3, "num_decoder_layers", default=6.0) or 6.0
        )
    decoder = 8 if name == "TransformerDecoderLayer" else 4
    parameters, outputs = decoder * width * width + 2 * width * inner, 9 * width + 2 * inner
    count.parameters += blocks * parameters
    count.outputs += blocks * outputs
    count.last_block = (parameters, outputs)
