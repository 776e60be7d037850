"""Layers of PyTorch, Keras and JAX's libraries, by name: their weights, what they put out, and what of it is kept.

Formulas are those of the layers themselves: weights in x out x kernel, and a bias. What is kept: a layer's output once, since
what follows needs it, a norm's once more; an activation that needs its input beside its output once more (GELU, SiLU), ReLU not.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.attention import ATTENTION, apply_attention
from gpu_lol_action.analysis.networks.convolutions import convolved
from gpu_lol_action.analysis.networks.form_layers import reformed
from gpu_lol_action.analysis.networks.forms import gated, numel_of, pooled_side, shrunk
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.sizes import side_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Counted, Layer, Named, Tensor, Value, names_label
from gpu_lol_action.analysis.networks.weights import (
    CONV,
    DENSE,
    NORM,
    POOL,
    RECURRENT,
    TABLES,
    recurrent_weights,
    weights_of,
)
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.sums import added

_CURVED = frozenset(
    {"GELU", "SiLU", "Swish", "Mish", "Sigmoid", "Tanh", "ELU", "SELU", "Hardswish", "Softplus", "PReLU", "QuickGELU", "CELU", "LogSigmoid",
     "Softsign", "LeakyReLU", "RReLU", "Snake", "Snake1d"}
)  # fmt: skip
_PLAIN = frozenset({"ReLU", "ReLU6", "Hardtanh", "Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "DropPath", "Softmax", "LogSoftmax", "Flatten",
                    "Unflatten", "Rearrange", "Reduce", "Activation", "Softmax2d", "Hardsigmoid", "Threshold", "StochasticDepth"})  # fmt: skip
_OTHERS = frozenset({"Embedding", "EmbeddingBag", "Embed", "Upsample", "UpSampling2D", "UpsamplingBilinear2d", "UpsamplingNearest2d", "PixelShuffle",
                     "PixelUnshuffle", "ReflectionPad2d", "ZeroPad2d", "ReplicationPad2d", "ReflectionPad1d", "ReplicationPad1d", "ConstantPad1d", "ConstantPad2d", "GLU",
                     "ZeroPadding2D", "Unfold", "Fold", "Mlp", "PatchEmbed", "Concatenate", "Bilinear"})  # fmt: skip
LONGEST_SIDE, LONGEST_WAVE = 8192.0, 2.0**20
"""Pixels of a picture, samples of a sound: an output that is longer was not understood."""
_KERAS = regex(r"(?:^|\.)(?:keras|layers|tf|linen|hk|L)\.(?:\w+\.)*\w+$")


def build_layer(name: Named, places: Sequence[Value], named: Mapping[str, Value]) -> Layer | None:
    """Return a layer of a library; None where the name is none that is counted."""
    kind = name.last
    if not is_counted(kind):
        return None
    last = kind in {"Dense", "Embed", "Conv", "ConvTranspose", "DenseGeneral"} or bool(regex(r"[123]D").search(kind)) or (
        bool(_KERAS.search(name.name)) and not name.name.startswith(("torch", "einops", "timm")) and "Parallel" not in kind
    )  # fmt: skip
    layer = Layer(kind, tuple(places), dict(named), is_last=last)
    layer.parameters = weights_of(layer)
    return layer


@functools.lru_cache(maxsize=4096)
def is_counted(kind: str) -> bool:
    """Whether a library's word is a kind of layer whose weights and outputs are known."""
    # Every call into a library is asked about.
    return (kind in _CURVED or kind in _PLAIN or kind in DENSE or kind in _OTHERS or kind in RECURRENT or kind in ATTENTION or kind in TABLES
            or any(pattern.match(kind) for pattern in (CONV, NORM, POOL)))  # fmt: skip


def apply_layer(machine: Machine, layer: Layer | Counted, given: Value, named: Mapping[str, Value]) -> Value:
    """Return what a layer makes of what it is given, and note what is kept."""
    machine.step()
    machine.built += 1
    kept = machine.kept
    kept.used[id(layer)] = layer
    tensor = given if isinstance(given, Tensor) else kept.last if given is UNKNOWN else None
    if isinstance(given, list):
        tensor = next((item for item in given if isinstance(item, Tensor)), None)
    if isinstance(layer, Counted):
        return _apply_counted(machine, layer)
    tensor = tensor or Tensor(None)
    told = layer.named.get("input_shape")
    if (
        tensor.numel is None
        and isinstance(told, list)
        and told
        and all(isinstance(side, (int, float)) for side in told)
    ):
        shape = (1.0, *(float(side) for side in told))
        tensor = Tensor(numel_of(shape), shape)
    if layer.kind in ATTENTION:
        return apply_attention(machine, layer, tensor, holds_scores=named.get("need_weights") is not False)
    if CONV.match(layer.kind):
        return kept.keep(convolved(machine, layer, tensor))
    if layer.kind in DENSE:
        return kept.keep(_dense(layer, tensor))
    if layer.kind in TABLES:
        # What is left out beside a picture, or only told as the program runs, is a label.
        is_label = given is None or (given is UNKNOWN and 2 in kept.sides)
        return _embedded(
            machine, layer, given if isinstance(given, Tensor) else Tensor(None, name="y" if is_label else "")
        )
    if layer.kind in RECURRENT:
        return _recurred(machine, layer, tensor)
    if tensor.numel is None:
        return tensor
    return _formed(machine, layer, tensor, given)


def _formed(machine: Machine, layer: Layer, tensor: Tensor, given: Value) -> Value:
    """Apply what has no weights to speak of: norms, activations, pools, changes of size and form."""
    kept, numel, kind = machine.kept, tensor.numel or 0.0, layer.kind
    if NORM.match(kind):
        if layer.parameters is None or layer.is_last:
            layer.parameters = 2 * (tensor.shape[-1] if layer.is_last and tensor.shape else 0.0)
        return kept.keep(Tensor(numel, tensor.shape))
    if kind in _CURVED:
        is_in_place = layer.named.get("inplace", layer.places[-1] if layer.places else None) is True
        return kept.keep(Tensor(numel, tensor.shape), 0.0 if is_in_place else 1.0)
    if kind == "GLU":
        axis = layer.named.get("dim", layer.places[0] if layer.places else -1)
        return kept.keep(gated(tensor, axis if isinstance(axis, int) else -1))
    if kind == "Concatenate" and isinstance(given, list):
        return kept.keep(Tensor(added(item.numel or 0.0 for item in given if isinstance(item, Tensor)),
                                _joined_last([item.shape for item in given if isinstance(item, Tensor)])))  # fmt: skip
    if POOL.match(kind):
        return _pooled(machine, layer, tensor)
    if "psampl" in kind or "pSampl" in kind:
        factor = number(layer, 1 if kind == "Upsample" else 0, "scale_factor", "size", default=2.0) or 2.0
        return kept.keep(_enlarged(tensor, factor, is_last=layer.is_last))
    return reformed(machine, layer, tensor)


def _dense(layer: Layer, tensor: Tensor) -> Tensor:
    is_open = layer.kind in {"Dense", "LazyLinear", "DenseGeneral"} or layer.is_last
    outer = number(layer, 0, "units", "features", "out_features") if is_open else number(layer, 1, "out_features")
    inner = (tensor.shape[-1] if tensor.shape else tensor.numel) if is_open else number(layer, 0, "in_features")
    if not outer:
        return Tensor(tensor.numel, tensor.shape)
    inner = inner or outer
    if layer.parameters is None and is_open:
        layer.parameters = inner * outer + outer
    positions = max(1.0, (tensor.numel or inner) / inner)
    is_shaped = tensor.shape is not None and abs(tensor.shape[-1] - inner) < 0.5
    shape = (*tensor.shape[:-1], outer) if is_shaped and tensor.shape is not None else None
    return Tensor(positions * outer, shape)


def _embedded(machine: Machine, layer: Layer, tensor: Tensor) -> Tensor:
    width = number(layer, 1, "embedding_dim", "output_dim", "features")
    if not width:
        machine.kept.unknown += 1
        return tensor
    positions = tensor.numel or (1.0 if names_label(tensor) else float(machine.length))
    if tensor.numel is None and positions > 1:
        machine.kept.is_sequence = True
    return machine.kept.keep(Tensor(positions * width, (1.0, positions, width)))


def _recurred(machine: Machine, layer: Layer, tensor: Tensor) -> Value:
    width = number(layer, 0, "units", "features") if layer.is_last else number(layer, 1, "hidden_size")
    inner = (tensor.shape[-1] if tensor.shape else None) if layer.is_last else number(layer, 0, "input_size")
    if not width:
        machine.kept.unknown += 1
        return [tensor, UNKNOWN]
    if layer.parameters is None:
        layer.parameters = recurrent_weights(layer, inner)
    positions = max(1.0, tensor.numel / (inner or width)) if tensor.numel else float(machine.length)
    machine.kept.is_sequence = machine.kept.is_sequence or tensor.numel is None
    ways = 2.0 if layer.named.get("bidirectional") is True else 1.0
    layers = number(layer, 2, "num_layers", default=1.0) or 1.0
    out = Tensor(positions * width * ways, (1.0, positions, width * ways))
    machine.kept.keep(out, (RECURRENT[layer.kind] + 2) * (layers if not layer.is_last else 1.0))
    is_whole = layer.is_last or layer.kind.endswith("Cell")
    return out if is_whole else [out, [Tensor(width * ways * layers), Tensor(width * ways * layers)] if layer.kind == "LSTM" else Tensor(width * ways * layers)]  # fmt: skip


def _pooled(machine: Machine, layer: Layer, tensor: Tensor) -> Tensor:
    found = POOL.match(layer.kind)
    rank = int(found[2]) if found and found[2] else 2
    shape = tensor.shape if tensor.shape is not None and len(tensor.shape) == rank + 2 else None
    if found and found[1]:
        side = (number(layer, 0, "output_size", default=1.0) or 1.0) if found[1] == "Adaptive" else 1.0
        if shape is None:
            return Tensor(tensor.numel)
        new = (shape[0], shape[-1]) if layer.is_last else (shape[0], shape[1], *(side,) * rank)
        return Tensor(numel_of(new), new)
    window = number(layer, 0, "kernel_size", "pool_size", default=None if layer.places else 2.0)
    step = number(layer, 1, "stride", "strides") or window or 2.0
    pad = number(layer, 2, "padding", default=0.0)
    if layer.is_last and shape is not None:
        pad = None if str(layer.named.get("padding", "")).lower() == "same" else 0.0
        new = (shape[0], *(pooled_side(side, step, window, pad) for side in shape[1:-1]), shape[-1])
        return machine.kept.keep(Tensor(numel_of(new), new), 2.0)
    windows = layer.named.get("kernel_size", layer.places[0] if layer.places else window)
    steps = layer.named.get("stride", layer.places[1] if len(layer.places) > 1 else None) or windows
    pads = layer.named.get("padding", layer.places[2] if len(layer.places) > 2 else 0.0)
    return machine.kept.keep(shrunk(tensor, steps, rank, windows, pads), 3.0 if "Max" in layer.kind else 1.0)


def _enlarged(tensor: Tensor, factor: float, *, is_last: bool) -> Tensor:
    if tensor.shape is not None and len(tensor.shape) > 2:
        sides = tensor.shape[1:-1] if is_last else tensor.shape[2:]
        new = tuple(min(side * factor, 8192.0) for side in sides)
        shape = (tensor.shape[0], *new, tensor.shape[-1]) if is_last else (*tensor.shape[:2], *new)
        return Tensor(numel_of(shape), shape)
    return Tensor((tensor.numel or 0.0) * factor**2)


def _joined_last(shapes: Sequence[tuple[float, ...] | None]) -> tuple[float, ...] | None:
    first = shapes[0] if shapes else None
    if first is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    return (*first[:-1], added(shape[-1] for shape in shapes if shape))


def _apply_counted(machine: Machine, layer: Counted) -> Tensor:
    """Add what a counted network keeps, once; it puts out a thirty-second of the picture's sides."""
    network, kept = layer.network, machine.kept
    key = -1 - hash(network.name) % 10**9
    scale = (side_of(machine) / network.height) ** 2 if network.height else 1.0
    if key not in kept.used:
        kept.used[key] = layer
        kept.saved += network.training_fp32_mb * 1e6 / 4 * scale
        kept.at_work = max(kept.at_work, network.inference_fp32_mb * 1e6 / 4 * scale)
    side = max(1.0, machine.size / 32)
    channels = 2048.0 if network.parameters_m > 22 else 512.0
    return Tensor(channels * side * side, (1.0, channels, side, side))
