"""Tensors that are made of sizes (``zeros``, ``randn``, ``arange``), and what a tensor is asked of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Method, Tensor, Value

MADE = frozenset(
    {"zeros", "ones", "randn", "rand", "empty", "full", "Parameter", "tensor", "normal", "randint", "arange"}
)
DICTIONARY = frozenset({"items", "values", "keys"})


def made(name: str, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return a new tensor of the sizes that are told; ``UNKNOWN`` where they are not."""
    first = places[0] if places else UNKNOWN
    if name == "Parameter":
        return Tensor(first.numel, first.shape, is_parameter=True) if isinstance(first, Tensor) else UNKNOWN
    if name == "randint":  # limits, and then the sides
        size = next((place for place in [named.get("size"), *places] if isinstance(place, list)), None)
        return made("zeros", [size], {}) if size is not None else UNKNOWN
    sides = first if isinstance(first, list) else list(places)
    if name in {"tensor", "arange", "normal"}:
        is_scalar = name == "tensor" and isinstance(first, (int, float))
        sides = [len(first)] if isinstance(first, list) else [1 if is_scalar else first]
    if name == "arange" and len(places) == 2 and all(isinstance(place, (int, float)) for place in places):
        sides = [max(0, places[1] - places[0])]
    if sides and all(isinstance(side, (int, float)) and side >= 0 for side in sides):
        shape = tuple(float(side) for side in sides)
        return Tensor(min(numel_of(shape), 1e12), shape)
    return UNKNOWN


def asked(tensor: Tensor, name: str, places: Sequence[Value]) -> Value:
    """Return how many numbers or sides a tensor has, or how long one of them is."""
    if name == "numel":
        return int(tensor.numel) if tensor.numel is not None else UNKNOWN
    if tensor.shape is None:
        return UNKNOWN
    if name == "dim":
        return len(tensor.shape)
    axis = places[1] if len(places) > 1 else None
    if isinstance(axis, int):
        return int(tensor.shape[axis]) if -len(tensor.shape) <= axis < len(tensor.shape) else UNKNOWN
    return [int(side) for side in tensor.shape]


def features_of(tensor: Tensor, name: str) -> Value:
    """Return an attribute of a tensor: its shape where it is known."""
    if name == "shape":
        return list(tensor.shape) if tensor.shape is not None else UNKNOWN
    if name == "ndim":
        return len(tensor.shape) if tensor.shape is not None else UNKNOWN
    if name in {"T", "mT", "data"}:
        return Tensor(tensor.numel, (*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2])) if name != "data" and tensor.shape and len(tensor.shape) > 1 else tensor  # fmt: skip
    if (
        name in {"tensors", "tensor", "images", "pixel_values", "last_hidden_state", "sample", "logits"}
        or name in DICTIONARY
    ):
        return tensor if name not in DICTIONARY else Method(tensor, name)
    return UNKNOWN if name in {"device", "dtype", "grad", "requires_grad", "is_cuda"} else Method(tensor, name)
