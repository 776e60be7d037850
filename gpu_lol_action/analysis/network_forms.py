"""Tensors after functions that change how many numbers there are: joined, cut, resized, pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.network_values import UNKNOWN, Tensor, Value


def numel_of(shape: Sequence[float]) -> float:
    """Return the product of the sides."""
    return math.prod(shape)


def joined(tensors: Sequence[Tensor], places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return tensors joined along a side."""
    known = [tensor for tensor in tensors if tensor.numel is not None]
    numel = sum(tensor.numel or 0.0 for tensor in known)
    axis = named.get("dim", named.get("axis", places[1] if len(places) > 1 else 0))
    shapes = [tensor.shape for tensor in known]
    first = shapes[0]
    if (
        first
        and all(shape and len(shape) == len(first) for shape in shapes)
        and isinstance(axis, int)
        and -len(first) <= axis < len(first)
    ):
        sides = list(first)
        sides[axis] = sum(shape[axis] for shape in shapes if shape)
        return Tensor(numel, tuple(sides)) if abs(numel_of(sides) - numel) <= 0.01 * numel else Tensor(numel)
    return Tensor(numel)


def parts_of(name: str, first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return a tensor cut along a side, as a list."""
    count = places[1] if len(places) > 1 else named.get("chunks", named.get("split_size_or_sections", 2))
    axis = named.get("dim", places[2] if len(places) > 2 else 0)
    if name == "unbind":
        axis = named.get("dim", places[1] if len(places) > 1 else 0)
        whole_shape = first.shape
        if (
            whole_shape is None
            or not isinstance(axis, int)
            or not -len(whole_shape) <= axis < len(whole_shape)
            or not 1 <= whole_shape[axis] <= 64
        ):
            return UNKNOWN
        left = tuple(side for place, side in enumerate(whole_shape) if place != axis % len(whole_shape))
        return [Tensor(numel_of(left), left) for _ in range(int(whole_shape[axis]))]
    side = (
        first.shape[axis]
        if first.shape and isinstance(axis, int) and -len(first.shape) <= axis < len(first.shape)
        else None
    )
    if isinstance(count, list) and all(isinstance(c, (int, float)) for c in count) and count:
        shares = [float(c) for c in count]
    elif isinstance(count, (int, float)) and count >= 1:
        number = count if name != "split" else max(1.0, (side or count) // count)
        shares = [1.0] * int(min(number, 64))
    else:
        return UNKNOWN
    whole = sum(shares) or 1.0
    found = []
    for share in shares:
        shape = None
        if first.shape is not None and side is not None and isinstance(axis, int):
            cut = list(first.shape)
            cut[axis] = side * share / whole
            shape = tuple(cut)
        found.append(Tensor((first.numel or 0.0) * share / whole, shape))
    return found


def resized(first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return a picture of another size."""
    size = named.get("size", places[1] if len(places) > 1 else None)
    factor = named.get("scale_factor", places[2] if len(places) > 2 else None)
    numel = first.numel or 0.0
    if first.shape is None or len(first.shape) < 3:
        return Tensor(numel * float(factor) ** 2) if isinstance(factor, (int, float)) else Tensor(numel)
    rank = len(first.shape) - 2
    sides = first.shape[2:]
    if isinstance(size, (int, float)):
        sides = (float(size),) * rank
    elif isinstance(size, list) and len(size) == rank and all(isinstance(s, (int, float)) for s in size):
        sides = tuple(float(s) for s in size)
    elif isinstance(factor, (int, float)):
        sides = tuple(s * factor for s in sides)
    shape = (*first.shape[:2], *sides)
    return Tensor(numel_of(shape), shape)


def shrunk(first: Tensor, step: float, rank: int = 2) -> Tensor:
    """Return a tensor after a pool of that stride over ``rank`` sides."""
    if first.shape is not None and len(first.shape) == rank + 2:
        shape = (*first.shape[:2], *(max(1.0, side // step) for side in first.shape[2:]))
        return Tensor(numel_of(shape), shape)
    return Tensor(max(1.0, (first.numel or 0.0) / step**rank))
