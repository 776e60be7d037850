"""Convolutions, as layers and as functions with weights of one's own: how large what they put out is, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.sizes import side_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Layer, Tensor, Value
from gpu_lol_action.analysis.networks.weights import conv_weights, rank_of

LONGEST = 8192.0
"""Sides that are enlarged grow no further: larger pictures were not understood."""
LONGEST_SOUND = 2.0**24
NEARLY = 3.5
"""Queries, keys and values are three times what went in."""
FUNCTIONS = frozenset(
    {"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "linear"}
)


def convolved(machine: Machine, layer: Layer, tensor: Tensor) -> Tensor:
    """Return what a convolution puts out; of an input that nothing has looked at it makes a picture or sound of the run's size."""
    rank, kept = rank_of(layer), machine.kept
    outer = number(layer, 0 if layer.is_last else 1, "filters", "features", "out_channels")
    inner = None if layer.is_last else number(layer, 0, "in_channels")
    known = None
    if tensor.numel is None:  # the network's input
        sides: tuple[float, ...] = (side_of(machine),) * rank if rank > 1 else (float(machine.length),)
        kept.is_sequence = kept.is_sequence or rank == 1
        inner = inner or 3.0
    else:
        known = tensor.shape if tensor.shape is not None and len(tensor.shape) == rank + 2 else None
        if known and inner and not layer.is_last and abs(known[1] - inner) > 0.5:
            known = None  # features that were not followed: as many numbers, in that many channels
        inner = inner or (known[-1] if known and layer.is_last else None)
        sides = (
            (known[1:-1] if layer.is_last else known[2:])
            if known
            else _guessed(kept.sides.get(rank), tensor.numel / (inner or 1.0), rank)
        )
    if layer.kind == "DepthwiseConv2D":
        outer = inner
    if not inner or not outer:
        kept.unknown += 1
        return Tensor(tensor.numel, tensor.shape)
    if layer.parameters is None:
        layer.parameters = conv_weights(layer, inner, outer, shift=1 if layer.is_last else 2)
    new = tuple(_side(layer, side, axis) for axis, side in enumerate(sides))
    first = known[0] if known else 1.0  # pictures of a clip go through side by side
    shape = (first, *new, outer) if layer.is_last else (first, outer, *new)
    return Tensor(numel_of(shape), shape)


def _guessed(before: tuple[float, ...] | None, numel: float, rank: int) -> tuple[float, ...]:
    """Return the sides of what was not followed: those of the picture before it where about as much is there, else a square."""
    if before is not None and 1 / NEARLY < numel / max(1.0, numel_of(before)) < NEARLY:
        return before
    return (max(1.0, numel ** (1 / rank)),) * rank


def of_function(name: str, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor | None:
    """Return what ``F.conv2d(x, weight, ...)`` and its kin give, by the weight's sides; None where these are not known."""
    first = places[0] if places else named.get("input", UNKNOWN)
    weight = places[1] if len(places) > 1 else named.get("weight", UNKNOWN)
    if not isinstance(first, Tensor) or first.numel is None or not isinstance(weight, Tensor) or weight.shape is None:
        return None
    if name == "linear":
        return _multiplied(first, weight.shape)
    rank = int(name[-2])
    groups = _given(places, named, 5 if "transpose" in name else 6, "groups", 0) or 1.0
    if len(weight.shape) != rank + 2 or first.shape is None or len(first.shape) != rank + 2:
        return None
    is_transposed = "transpose" in name
    outer = weight.shape[1] * groups if is_transposed else weight.shape[0]
    new = []
    for axis, (side, kernel) in enumerate(zip(first.shape[2:], weight.shape[2:], strict=True)):
        step = _given(places, named, 3, "stride", axis) or 1.0
        pad = _given(places, named, 4, "padding", axis) or 0.0
        spread = _given(places, named, 7 if is_transposed else 5, "dilation", axis) or 1.0
        if is_transposed:
            new.append(_enlarged(side, step, pad, kernel, 0.0, rank))
        else:
            new.append(_shrunk(side, step, pad, kernel, spread))
    # A sample's own weights are often laid side by side: as many numbers as before, whatever the first side says.
    shape = (first.shape[0], outer, *new)
    return Tensor(numel_of(shape), shape)


def _multiplied(first: Tensor, weight: Sequence[float]) -> Tensor | None:
    inner = weight[1] if len(weight) > 1 else 1.0
    if not inner:
        return None
    is_shaped = first.shape is not None and abs(first.shape[-1] - inner) < 0.5
    shape = (*first.shape[:-1], weight[0]) if is_shaped and first.shape is not None else None
    return Tensor((first.numel or 0.0) / inner * weight[0], shape)


def _given(places: Sequence[Value], named: Mapping[str, Value], place: int, name: str, axis: int) -> float | None:
    return _of_axis(named.get(name, places[place] if len(places) > place else UNKNOWN), axis)


def _of_axis(value: Value, axis: int) -> float | None:
    """Return a number, or that of one side where each has its own."""
    if isinstance(value, list):
        value = value[axis] if axis < len(value) else value[0] if value else UNKNOWN
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _of_layer(layer: Layer, place: int, axis: int, *names: str) -> float | None:
    value = next((layer.named[name] for name in names if name in layer.named), UNKNOWN)
    if value is UNKNOWN and 0 <= place < len(layer.places):
        value = layer.places[place]
    return _of_axis(value, axis)


def _side(layer: Layer, side: float, axis: int) -> float:
    shift = 1 if layer.is_last else 2
    kernel = _of_layer(layer, shift, axis, "kernel_size") or 3.0
    step = _of_layer(layer, shift + 1, axis, "stride", "strides") or 1.0
    if "ranspose" in layer.kind:
        pad = _of_axis(
            layer.named.get("padding", layer.places[shift + 2] if len(layer.places) > shift + 2 else 0), axis
        )
        if layer.is_last or pad is None:
            return min(side * step, LONGEST)
        more = _of_layer(layer, -1, axis, "output_padding") or 0.0
        return _enlarged(side, step, pad, kernel, more, rank_of(layer))
    padding = layer.named.get(
        "padding", layer.places[shift + 2] if len(layer.places) > shift + 2 and not layer.is_last else UNKNOWN
    )
    pad = _of_axis(padding, axis)
    if layer.kind.startswith("Conv2dNorm"):
        pad = (kernel - 1) / 2
    elif padding is UNKNOWN:
        pad = (kernel - 1) / 2 if layer.is_last else 0.0
    if isinstance(padding, str):
        pad = 0.0 if padding.lower() == "valid" else None
    if pad is None:
        return max(1.0, math.ceil(side / step))
    return _shrunk(side, step, pad, kernel, _of_layer(layer, -1, axis, "dilation") or 1.0)


def _shrunk(side: float, step: float, pad: float, kernel: float, spread: float) -> float:
    return max(1.0, math.floor((side + 2 * pad - spread * (kernel - 1) - 1) / step + 1))


def _enlarged(side: float, step: float, pad: float, kernel: float, more: float, rank: int) -> float:
    return min(max(1.0, (side - 1) * step - 2 * pad + kernel + more), LONGEST if rank > 1 else LONGEST_SOUND)
