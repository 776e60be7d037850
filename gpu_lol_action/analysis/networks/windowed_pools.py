"""Pools that are functions of Flax, Haiku and TensorFlow: told a window and steps, and the channels come last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.networks.forms import numel_of, pooled_side
from gpu_lol_action.analysis.networks.values import Tensor, Value

POOLS = frozenset({"max_pool", "avg_pool"})
_SAME = "same"
_CHANNELS_LAST = frozenset({"flax", "haiku", "jax", "tensorflow", "keras", "tf_keras"})
_WINDOWS, _STEPS = ("window_shape", "ksize"), ("strides",)


def puts_channels_last(sources: Iterable[Source]) -> bool:
    """Whether these programs take a library whose pools these are: a function of that name beside PyTorch has the channels in front."""
    return any(source.code is not None and source.code.imported() & _CHANNELS_LAST for source in sources)


def window_pooled(first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return what ``max_pool(x, (2, 2), strides=(2, 2))`` leaves; as many numbers as before where its window or form is not known.

    Flax and TensorFlow start with ``VALID``, Haiku with ``SAME``. A window may have the samples and channels beside its sides (``(1, 2, 2, 1)``).
    """
    shape = first.shape
    window = _sides(places, named, 1, _WINDOWS)
    if shape is None or len(shape) < 3 or not window:
        return Tensor(first.numel, shape)
    rank = len(shape) - 2
    sides = _spatial(window, rank)
    # Flax steps by one where it is told nothing else.
    steps = _spatial(_sides(places, named, 2, _STEPS) or [1.0], rank)
    if sides is None or steps is None or min(*sides, *steps) <= 0:
        return Tensor(first.numel, shape)
    padding = named.get("padding", places[3] if len(places) > 3 else "")
    pad = None if isinstance(padding, str) and padding.lower() == _SAME else 0.0
    new = [pooled_side(side, step, wide, pad) for side, step, wide in zip(shape[1:-1], steps, sides, strict=True)]
    whole = (shape[0], *new, shape[-1])
    return Tensor(numel_of(whole), whole)


def _sides(places: Sequence[Value], named: Mapping[str, Value], place: int, names: Sequence[str]) -> list[float]:
    """Return the numbers of an argument that is one number or a row of them; empty for another."""
    given = next((named[name] for name in names if name in named), places[place] if len(places) > place else None)
    row = given if isinstance(given, list) else [given]
    numbers = [float(item) for item in row if isinstance(item, (int, float)) and not isinstance(item, bool)]
    return numbers if len(numbers) == len(row) else []


def _spatial(numbers: Sequence[float], rank: int) -> list[float] | None:
    """Return one number for each side of a picture: one counts for all, and one more at each end is of samples and channels."""
    if len(numbers) == 1:
        return [numbers[0]] * rank
    if len(numbers) == rank + 2:
        return list(numbers[1:-1])
    return list(numbers) if len(numbers) == rank else None
