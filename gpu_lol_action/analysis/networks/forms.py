"""Tensors after functions that change how many numbers there are: joined, cut, resized, pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.arguments import number_at
from gpu_lol_action.analysis.networks.values import RESULT, UNKNOWN, Tensor, Value
from gpu_lol_action.domain.sums import added

MOST_ROWS = 64


def numel_of(shape: Sequence[float]) -> float:
    """Return the product of the sides."""
    return math.prod(shape)


def rows_of(tensor: Tensor) -> list[Value]:
    """Return a tensor row by row, one alone where it is not known how many there are, or there are too many to look at each."""
    if not tensor.shape or not tensor.numel or not tensor.shape[0]:
        return [Tensor(tensor.numel)]
    count = int(tensor.shape[0]) if tensor.shape[0] <= MOST_ROWS else 1
    return [Tensor(tensor.numel / tensor.shape[0], tensor.shape[1:] or (1.0,)) for _ in range(max(count, 1))]


def dropped(tensor: Tensor) -> float:
    """Return how many of a tensor's size are kept where a part of it is left out: which, in a byte each, and what is left where ``tensor`` is kept, too."""
    return 1.25 if tensor.made_by == RESULT else 0.25


def joined(tensors: Sequence[Tensor], places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return tensors joined along a side."""
    known = [tensor for tensor in tensors if tensor.numel is not None]
    numel = added(tensor.numel or 0.0 for tensor in known)
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
        sides[axis] = added(shape[axis] for shape in shapes if shape)
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
    whole = added(shares) or 1.0
    found = []
    for share in shares:
        shape = None
        if first.shape is not None and side is not None and isinstance(axis, int):
            cut = list(first.shape)
            cut[axis] = side * share / whole
            shape = tuple(cut)
        found.append(Tensor((first.numel or 0.0) * share / whole, shape))
    return found


def repeated(tensor: Tensor, places: Sequence[Value]) -> Tensor:
    """Return a tensor that is laid side by side so many times; as it was where the times are not known."""
    times = list(places[0]) if len(places) == 1 and isinstance(places[0], list) else list(places)
    known = all(isinstance(each, (int, float)) and not isinstance(each, bool) and each >= 0 for each in times)
    if tensor.shape is None or not known or len(times) < len(tensor.shape):
        return Tensor(tensor.numel, None if len(times) != len(tensor.shape or ()) else tensor.shape, name=tensor.name)
    sides = (1.0,) * (len(times) - len(tensor.shape)) + tensor.shape  # new sides come first
    shape = tuple(float(each) * side for each, side in zip(times, sides, strict=True))
    return Tensor(numel_of(shape), shape)


def nearest(tensor: Tensor, count: Value, axis: Value) -> Tensor:
    """Return the first few of a tensor along a side."""
    is_known = isinstance(count, (int, float)) and isinstance(axis, int) and tensor.shape is not None
    if not is_known or tensor.shape is None or not -len(tensor.shape) <= axis < len(tensor.shape):
        return Tensor(tensor.numel)
    shape = list(tensor.shape)
    shape[axis] = float(count)
    return Tensor(numel_of(tuple(shape)), tuple(shape))


def expanded(first: Tensor, places: Sequence[Value]) -> Tensor:
    """Return a tensor that is shown several times along its sides of one; nothing of it is copied."""
    sides = list(places[0]) if len(places) == 1 and isinstance(places[0], list) else list(places)
    before = first.shape
    if before is None or len(sides) < len(before) or not all(isinstance(side, (int, float)) for side in sides):
        return Tensor(first.numel, before)
    old = (1.0,) * (len(sides) - len(before)) + before
    shape = tuple(was if side < 0 else float(side) for was, side in zip(old, sides, strict=True))
    return Tensor(numel_of(shape), shape)


def spread(left: Sequence[float], right: Sequence[float]) -> tuple[float, ...] | None:
    """Return the sides of what arithmetic of two shapes gives, sides of one as often as the other needs; None where they do not fit."""
    rank = max(len(left), len(right))
    pairs = zip((1.0,) * (rank - len(left)) + tuple(left), (1.0,) * (rank - len(right)) + tuple(right), strict=True)
    sides = [(first, second) for first, second in pairs]
    if any(first != second and 1.0 not in (first, second) for first, second in sides):
        return None
    return tuple(max(pair) for pair in sides)


def gated(first: Tensor, axis: int) -> Tensor:
    """Return a tensor of which one half opens and closes the other (Dauphin et al. 2017)."""
    numel = (first.numel or 0.0) / 2
    if first.shape is None or not -len(first.shape) <= axis < len(first.shape):
        return Tensor(numel)
    sides = list(first.shape)
    sides[axis] /= 2
    return Tensor(numel, tuple(sides))


def meshed(places: Sequence[Value], order: Value) -> Value:
    """Return the places of a grid along each of its axes, each as large as the grid; ``order``: ``xy`` has the second axis first."""
    is_together = len(places) == 1 and isinstance(places[0], list)
    axes = list(places[0]) if is_together else list(places)
    counts = [float(len(a)) if isinstance(a, list) else a.numel if isinstance(a, Tensor) else None for a in axes]
    sides = [count for count in counts if count is not None]
    if not sides or len(sides) < len(axes):
        return UNKNOWN
    if order == "xy" and len(sides) > 1:
        sides[0], sides[1] = sides[1], sides[0]
    return [Tensor(numel_of(sides), tuple(sides)) for _ in axes]


def padded(first: Tensor, pads: Value) -> Tensor:
    """Return a tensor that is longer at its ends: two numbers per side, from the last side on."""
    known = isinstance(pads, list) and all(isinstance(pad, (int, float)) for pad in pads)
    if not known or first.shape is None or len(pads) > 2 * len(first.shape):
        return Tensor(first.numel, first.shape)
    sides = list(first.shape)
    for place in range(len(pads) // 2):
        sides[-1 - place] = max(1.0, sides[-1 - place] + pads[2 * place] + pads[2 * place + 1])
    return Tensor(numel_of(sides), tuple(sides))


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


def shrunk(first: Tensor, step: Value, rank: int = 2, window: Value = UNKNOWN, pad: Value = 0.0) -> Tensor:
    """Return a tensor after a pool of that step and window over ``rank`` sides, channels second; each one number, or one per side.

    What is not followed shrinks by its step alone.
    """
    steps = [number_at(step, axis) or 2.0 for axis in range(rank)]
    if first.shape is not None and len(first.shape) == rank + 2:
        sides = (
            pooled_side(side, steps[axis], number_at(window, axis), number_at(pad, axis) or 0.0)
            for axis, side in enumerate(first.shape[2:])
        )
        shape = (*first.shape[:2], *sides)
        return Tensor(numel_of(shape), shape)
    return Tensor(max(1.0, (first.numel or 0.0) / math.prod(steps)))


def pooled_side(side: float, step: float, window: float | None, pad: float | None) -> float:
    """Return how long a side is after a pool: windows that fit on it with ``pad`` at each end; None: as many as steps (``same``)."""
    if pad is None:
        return max(1.0, float(math.ceil(side / step)))
    fitting = side // step if window is None else (side + 2 * pad - window) // step + 1
    return max(1.0, float(fitting))
