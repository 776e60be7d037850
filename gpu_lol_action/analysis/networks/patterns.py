"""Sides of tensors by name, as einops writes them: ``b c (h p) (w q) -> b (h w) (c p q)`` moves, repeats or takes together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.shapes import Shape
from gpu_lol_action.analysis.networks.values import UNKNOWN, Tensor, Value
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.sums import added

REST = "..."
MAX_SIDES = 12


def patterned(tensor: Tensor, pattern: Value, named: Mapping[str, Value]) -> Tensor:
    """Return a tensor after a pattern; where that is not understood, as many numbers in unknown sides.

    ``named`` are the sizes of the pattern's words; a word that stands on the right alone repeats the tensor that often, and what
    stands on the left alone is taken together.
    """
    sizes = {key: float(value) for key, value in named.items() if isinstance(value, (int, float))}
    shape = _moved(tensor.shape, pattern, sizes) if isinstance(pattern, str) and "->" in pattern else None
    return Tensor(numel_of(shape), shape) if shape is not None else Tensor(tensor.numel)


def packed(tensors: Sequence[Tensor], pattern: Value) -> Value:
    """Return tensors side by side along the star of a pattern (``b * d``), and the sides that each has there."""
    before, after = _ends(pattern)
    shapes = [tensor.shape for tensor in tensors if tensor.shape is not None and len(tensor.shape) >= before + after]
    if len(shapes) < len(tensors) or not shapes:
        return [Tensor(added(tensor.numel or 0.0 for tensor in tensors)), UNKNOWN]
    stars = [shape[before : len(shape) - after] for shape in shapes]
    ends = shapes[0][:before], shapes[0][len(shapes[0]) - after :]
    whole = (*ends[0], added(math.prod(star) for star in stars), *ends[1])
    return [Tensor(numel_of(whole), whole), [[int(side) for side in star] for star in stars]]


def unpacked(tensor: Tensor, stars: Value, pattern: Value) -> Value:
    """Return what was put side by side along the star of a pattern, each with its own sides."""
    before, after = _ends(pattern)
    if tensor.shape is None or len(tensor.shape) != before + after + 1 or not isinstance(stars, list):
        return UNKNOWN
    parts = []
    for star in stars:
        known = [float(side) for side in star if isinstance(side, (int, float))] if isinstance(star, list) else []
        if not isinstance(star, list) or len(known) < len(star):
            return UNKNOWN
        shape = (*tensor.shape[:before], *known, *tensor.shape[before + 1 :])
        parts.append(Tensor(numel_of(shape), shape))
    return parts


def _ends(pattern: Value) -> tuple[int, int]:
    """Return how many sides stand before and behind a pattern's star."""
    words = pattern.split()[:MAX_SIDES] if isinstance(pattern, str) else []
    place = words.index("*") if "*" in words else 0
    return place, len(words) - place - 1 if words else 0


def _moved(shape: Shape, pattern: str, sizes: Mapping[str, float]) -> Shape:
    inner, _, outer = pattern.partition("->")
    if shape is None:
        return None
    rest = len(shape) - len(_words(inner)) + (REST in inner)
    groups = _groups(inner, rest)
    if len(groups) != len(shape):
        return None
    sides = dict(sizes)
    for words, side in zip(groups, shape, strict=True):
        known = math.prod(sides[word] for word in words if word in sides)
        missing = [word for word in words if word not in sides]
        if len(missing) > 1 or (missing and not known):
            return None
        if missing:
            sides[missing[0]] = side / known
    found = []
    for words in _groups(outer, rest):
        if any(word not in sides for word in words):
            return None
        found.append(math.prod(sides[word] for word in words))
    return tuple(found)


def _words(side: str) -> list[tuple[str, str]]:
    return regex(r"\(([^()]*)\)|(\S+)").findall(side[:200])


def _groups(side: str, rest: int) -> list[list[str]]:
    """Return the axes of one side of a pattern, those in brackets together; a plain 1 is no axis by name, dots are ``rest`` of them."""
    groups: list[list[str]] = []
    for inner, single in _words(side):
        dots = [f"{REST}{place}" for place in range(min(max(rest, 0), MAX_SIDES))]
        if single == REST:
            groups += [[dot] for dot in dots]
        else:
            words = [word for word in (inner or single).split() if word != "1"]
            groups.append([each for word in words for each in (dots if word == REST else [word])])
    return groups
