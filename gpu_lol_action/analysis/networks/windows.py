"""Windows that slide over a tensor and are laid side by side, each as it is: ``Unfold``, ``Fold`` and a tensor's own ``unfold``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.arguments import number_at
from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Tensor, Value

_STARTS = {"kernel_size": UNKNOWN, "dilation": 1, "padding": 0, "stride": 1}


def unfolded(tensor: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return the windows of a picture as columns: (samples, channels, height, width) to (samples, channels x window, windows)."""
    kernel, dilation, padding, stride = (_pair(places, named, place, name) for place, name in enumerate(_STARTS))
    shape = tensor.shape
    if shape is None or len(shape) != 4 or not (kernel and dilation and padding and stride):
        return Tensor(tensor.numel)
    windows = math.prod(
        max(1.0, (side + 2 * pad - spread * (window - 1) - 1) // step + 1)
        for side, window, spread, pad, step in zip(shape[2:], kernel, dilation, padding, stride, strict=True)
    )
    sides = (shape[0], shape[1] * math.prod(kernel), windows)
    return Tensor(numel_of(sides), sides)


def folded(tensor: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return the picture of which the columns are windows; what lies under several of them is added."""
    size = _pair(places, named, 0, "output_size")
    kernel = _pair(places, named, 1, "kernel_size")
    if tensor.shape is None or len(tensor.shape) != 3 or not size or not kernel:
        return Tensor(tensor.numel)
    sides = (tensor.shape[0], tensor.shape[1] / math.prod(kernel), *size)
    return Tensor(numel_of(sides), sides)


def slid(tensor: Tensor, places: Sequence[Value]) -> Tensor:
    """Return ``tensor.unfold(side, size, step)``: so many windows along the side, what each holds behind the others."""
    axis, size, step = places
    shape = tensor.shape
    known = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in places)
    if shape is None or not known or not -len(shape) <= axis < len(shape) or step < 1 or size > shape[int(axis)]:
        return Tensor(tensor.numel)
    sides = list(shape)
    sides[int(axis)] = (sides[int(axis)] - size) // step + 1
    return Tensor(numel_of(sides) * size, (*sides, float(size)))


def _pair(places: Sequence[Value], named: Mapping[str, Value], place: int, name: str) -> tuple[float, float] | None:
    value = named.get(name, places[place] if len(places) > place else _STARTS.get(name, UNKNOWN))
    first, second = number_at(value, 0), number_at(value, 1)
    return (first, second) if first is not None and second is not None else None
