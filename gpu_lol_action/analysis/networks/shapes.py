"""Shapes after functions that only change the form of a tensor; None where they cannot be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Shape = tuple[float, ...] | None
MAX_SIDES = 12
SAID = 2.0
NEAR = 0.1  # sides are padded to multiples of a window


def reshaped(name: str, shape: Shape, numel: float, places: Sequence[Any]) -> Shape:
    """Return the shape after ``view``, ``permute``, ``flatten`` and their kin."""
    if name in {"view", "reshape"}:
        return _viewed(shape, numel, places)
    if shape is None:
        return None
    whole = [place for place in places if isinstance(place, int) and not isinstance(place, bool)]
    flat = [item for place in places for item in (place if isinstance(place, list) else [place])]
    # TensorFlow and NumPy are told the order of all sides (`tf.transpose(x, [0, 2, 1, 3])`), PyTorch swaps two by that name.
    is_listed = any(isinstance(place, list) for place in places) or len(whole) > 2
    is_order = name == "permute" or (name == "transpose" and is_listed)
    if is_order and len(flat) == len(shape) and all(isinstance(p, int) and -len(shape) <= p < len(shape) for p in flat):
        return tuple(shape[place] for place in flat)
    if (
        name in {"transpose", "swapaxes"}
        and len(whole) == 2
        and all(-len(shape) <= place < len(shape) for place in whole)
    ):
        swapped = list(shape)
        swapped[whole[0]], swapped[whole[1]] = swapped[whole[1]], swapped[whole[0]]
        return tuple(swapped)
    if name == "flatten":
        start, end = (whole[0] if whole else 0), (whole[1] if len(whole) > 1 else -1)
        start, end = start % len(shape), end % len(shape)
        return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]) if start <= end else None
    if name == "unsqueeze" and whole:
        place = whole[0] % (len(shape) + 1)
        return (*shape[:place], 1.0, *shape[place:])
    return shape if name in {"contiguous", "to"} else None


def _viewed(shape: Shape, numel: float, places: Sequence[Any]) -> Shape:
    sides = list(places[0]) if len(places) == 1 and isinstance(places[0], list) else list(places)
    if not 0 < len(sides) <= MAX_SIDES:
        return None
    known = [float(side) if isinstance(side, (int, float)) else None for side in sides]
    if known[0] is None:
        known[0] = shape[0] if shape else 1.0  # the first side is the batch's
    open_places = [place for place, side in enumerate(known) if side is None or side < 0]
    if len(open_places) > 1:
        return None
    product = math.prod(side for side in known if side is not None and side >= 0)
    if open_places:
        if not product:
            return None
        known[open_places[0]] = numel / product
        if 0 < numel < product or (numel / product) % 1 > NEAR < 1 - (numel / product) % 1:
            return None  # less than one, or a part of one: what went in was not followed
        product = numel
    found = tuple(side for side in known if side is not None)
    is_said = not open_places and numel / SAID <= product <= numel * SAID  # the program counts what was not followed
    return found if is_said or abs(product - numel) <= NEAR * max(numel, 1.0) else None
