"""Functions and methods of tensors: how many numbers come out per sample, and whether the backward pass keeps them.

Most change the form and not the count (``view``, ``permute``, ``rearrange``), so that a count is known where a shape is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.networks.convolutions import FUNCTIONS as CONVOLUTIONS
from gpu_lol_action.analysis.networks.convolutions import of_function
from gpu_lol_action.analysis.networks.forms import (
    dropped,
    expanded,
    gated,
    joined,
    meshed,
    nearest,
    numel_of,
    padded,
    parts_of,
    repeated,
    resized,
    shrunk,
    spread,
)
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.made_tensors import DICTIONARY, MADE, asked, made
from gpu_lol_action.analysis.networks.patterns import packed, patterned, unpacked
from gpu_lol_action.analysis.networks.shapes import reshaped
from gpu_lol_action.analysis.networks.values import DIFFERENCE, RESULT, UNKNOWN, Tensor, Value, names_label
from gpu_lol_action.analysis.networks.windowed_pools import POOLS, puts_channels_last, window_pooled
from gpu_lol_action.analysis.networks.windows import folded, slid, unfolded

# What comes out is saved besides what goes in.
LARGE = 1e6
_SAVES = frozenset({"leaky_relu", "gelu", "silu", "swish", "mish", "sigmoid", "tanh", "elu", "hardswish", "softplus", "exp", "stack", "cat",
                    "concat", "concatenate", "layer_norm", "group_norm", "batch_norm", "rms_norm", "instance_norm", "pixel_shuffle"})  # fmt: skip
_SAME = frozenset({"relu", "relu_", "leaky_relu_", "contiguous", "clone", "detach", "float", "half", "bfloat16", "to", "cuda", "type", "type_as", "dropout",
                   "normalize", "softmax", "log_softmax", "add", "add_", "mul", "mul_", "div", "sub", "masked_fill", "masked_fill_", "clamp", "roll", "flip",
                   "expand_as", "requires_grad_", "sqrt", "pow", "square", "abs", "log", "sin", "cos", "tril", "triu", "relu6",
                   "dropout2d", "where", "zeros_like", "ones_like", "randn_like", "rand_like", "squeeze", "rsqrt", "div_", "fill_",
                   "zero_", "normal_", "uniform_", "clamp_", "copy_", "neg", "sign", "round", "reciprocal", "sigmoid_", "tanh_"})  # fmt: skip
_PRODUCTS = frozenset({"matmul", "bmm", "baddbmm", "einsum", "dot"})
_MEANS = frozenset({"mean", "sum", "amax", "amin", "max", "min", "logsumexp", "argmax", "argmin", "norm", "std", "var", "prod", "median"})  # fmt: skip
_PAIRS = frozenset({"max", "min", "median"})
_SCALED = frozenset({"pow", "square", "mul", "div", "matmul"})
_RESULTS = frozenset({"relu", "softmax", "log_softmax"})
_PATTERNED = frozenset({"rearrange", "repeat", "reduce"})
FUNCTIONS = frozenset({*_SAVES, *_SAME, *MADE, *_PRODUCTS, *_MEANS, *CONVOLUTIONS, "expand", "glu", "pad", "view", "reshape", "flatten", "permute", "transpose", "swapaxes", "unsqueeze",
                       *POOLS, "rearrange", "chunk", "split", "unbind", "tensor_split", "interpolate", "upsample", "resize", "max_pool2d", "avg_pool2d", "max_pool1d",
                       "avg_pool1d", "max_pool3d", "avg_pool3d", "adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool1d", "adaptive_max_pool1d", "adaptive_avg_pool3d",
                       "scaled_dot_product_attention", "memory_efficient_attention", "flash_attn_func", "movedim",
                       "unfold", "fold", "reduce", "pack", "unpack", "numel", "size", "dim", "repeat", "topk", "meshgrid"})  # fmt: skip


def combine(left: Value, right: Value) -> Tensor:
    """Return what arithmetic of a tensor and something gives: as many numbers as the larger has."""
    tensors = [value for value in (left, right) if isinstance(value, Tensor)]
    known = [tensor for tensor in tensors if tensor.numel is not None]
    if len(known) == 2 and known[0].shape and known[1].shape and (shape := spread(known[0].shape, known[1].shape)):
        numel = numel_of(shape)
        # As many numbers in other places are one layout taken for another (positions first, samples first), not an outer product.
        if known[0].numel != known[1].numel or numel <= LARGE or known[0].numel == numel:
            return Tensor(numel, shape)
    largest = max(known, key=lambda tensor: tensor.numel or 0.0, default=tensors[0])
    return Tensor(largest.numel, largest.shape, name=largest.name)


def keep_differences(machine: Machine, values: Sequence[Value]) -> None:
    """Note the differences among what is squared, scaled or divided: nothing before needed them, and the backward pass of this does."""
    for value in values:
        if isinstance(value, Tensor) and value.made_by == DIFFERENCE and machine.running:
            machine.kept.keep(value)


def matrix_product(left: Tensor, right: Tensor) -> Tensor:
    """Return the product of two matrices, or stacks of them; of unknown shapes as many numbers as the smaller has."""
    if (
        left.shape
        and right.shape
        and left.numel is not None
        and len(left.shape) > 1
        and len(right.shape) > 1
        and left.shape[-1]
    ):
        stacks = spread(left.shape[:-2], right.shape[:-2])
        shape = (*(left.shape[:-2] if stacks is None else stacks), left.shape[-2], right.shape[-1])
        return Tensor(numel_of(shape), shape)
    known = [tensor.numel for tensor in (left, right) if tensor.numel is not None]
    return Tensor(min(known) if known else None)


def index_tensor(tensor: Tensor, parts: Sequence[Value]) -> Tensor:
    """Return a part of a tensor; of an unknown shape as many numbers as before."""
    if tensor.shape is None or tensor.numel is None:
        return Tensor(tensor.numel, None, name=tensor.name)
    if (rest := next((place for place, part in enumerate(parts) if part is Ellipsis), None)) is not None:
        taken = sum(part is not None for part in parts) - 1
        whole = [slice(None)] * (len(tensor.shape) - taken)
        parts = [*parts[:rest], *whole, *parts[rest + 1 :]]
    if sum(isinstance(part, Tensor) for part in parts) > 1:
        return _picked(tensor.shape, parts)
    shape: list[float] = []
    place = 0
    for part in parts:
        if part is None:
            shape.append(1.0)
            continue
        if place >= len(tensor.shape):
            return Tensor(tensor.numel)
        side = tensor.shape[place]
        if isinstance(part, slice):
            shape.append(float(len(range(*part.indices(int(min(side, 1e7)))))))
        elif isinstance(part, Tensor) and part.shape is not None:
            if part.shape == tensor.shape[place : place + len(part.shape)]:  # a mask
                return Tensor(tensor.numel)
            shape += part.shape
        elif isinstance(part, Tensor) and (part.numel is not None or names_label(part)):
            shape.append(part.numel or 1.0)  # the rows of a table that so many numbers pick
        elif not isinstance(part, (int, float)) or isinstance(part, bool):
            shape.append(side)
        place += 1
    shape += tensor.shape[place:]
    return Tensor(numel_of(shape), tuple(shape))


def _picked(shape: tuple[float, ...], parts: Sequence[Value]) -> Tensor:
    """Return what several indices of the same sides pick together: their own sides in the place of the first of them."""
    picks = [part.shape for part in parts if isinstance(part, Tensor)]
    known = [pick for pick in picks if pick is not None]
    sides = list(shape[len(parts) :])
    rank = max((len(pick) for pick in known), default=0)
    common = [
        max((pick[place - rank] for pick in known if len(pick) >= rank - place), default=1.0) for place in range(rank)
    ]
    kept = [side for side, part in zip(shape, parts, strict=False) if not isinstance(part, (Tensor, int))]
    whole = (*kept, *common, *sides)
    return Tensor(numel_of(whole), whole)


def call_tensor_function(machine: Machine, name: str, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return what a function of tensors gives, and note what it keeps."""
    machine.step()
    if name in MADE:
        return made(name, places, named)
    if name == "meshgrid":
        return meshed(places, named.get("indexing"))
    if name in {"pack", "unpack"}:
        return _in_a_row(machine, name, places)
    if name == "reduce" and not _is_pattern(places, named):
        return UNKNOWN  # Python's own
    flat = [item for value in [*places, *named.values()] for item in (value if isinstance(value, list) else [value])]
    tensors = [value for value in flat if isinstance(value, Tensor)]
    if not tensors:
        return UNKNOWN
    first = tensors[0]
    if name in DICTIONARY:  # features by name
        return [["0", first]] if name == "items" else [first] if name == "values" else ["0"]
    if name in {"size", "numel", "dim"}:
        return asked(first, name, places)
    if first.numel is None:
        return first
    if name in {"cat", "concat", "concatenate", "stack", "hstack"}:
        return machine.kept.keep(joined(tensors, places, named))
    if name in _PRODUCTS:
        return machine.kept.keep(_product(name, places, tensors))
    if name in _SAVES or name in _SAME or name.endswith("attention") or name.startswith("flash"):
        return _of_one_form(machine, name, tensors, places, named)
    return _formed(machine, name, first, places, named)


def _in_a_row(machine: Machine, name: str, places: Sequence[Value]) -> Value:
    """Return what einops lays side by side, or takes apart again."""
    first = places[0] if places else UNKNOWN
    if name == "unpack" and isinstance(first, Tensor):
        return unpacked(first, *places[1:3]) if len(places) > 2 else UNKNOWN
    tensors = [item for item in first if isinstance(item, Tensor)] if isinstance(first, list) else []
    if name == "unpack" or not tensors or len(places) < 2:
        return UNKNOWN
    found = packed(tensors, places[1])
    return [machine.kept.keep(found[0]), found[1]]


def _of_one_form(
    machine: Machine, name: str, tensors: Sequence[Tensor], places: Sequence[Value], named: Mapping[str, Value]
) -> Tensor:
    """Return what has the form of what went in, and note it where the backward pass needs it."""
    first = tensors[0]
    if name == "dropout" and named.get("p", places[1] if len(places) > 1 else 0.5) != 0:
        return machine.kept.keep(Tensor(first.numel, first.shape), dropped(first))
    if name in _SCALED:
        keep_differences(machine, tensors)
    if name in _RESULTS:
        return Tensor(first.numel, first.shape, made_by=RESULT)
    if name in _SAME or named.get("inplace") is True:
        is_of_two = len(tensors) > 1 and name in {"add", "mul", "sub", "div", "add_", "mul_"}
        return combine(first, tensors[1] if is_of_two else None)
    return machine.kept.keep(Tensor(first.numel, first.shape))


def _formed(machine: Machine, name: str, first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    numel = first.numel or 0.0
    if name == "pad":
        return padded(first, places[1] if len(places) > 1 else named.get("pad", UNKNOWN))
    if name in CONVOLUTIONS:
        return machine.kept.keep(of_function(name, places, named) or Tensor(numel))
    if name in {"expand", "repeat"} and not _is_pattern(places, named):
        return (expanded if name == "expand" else repeated)(first, places[1:])
    if name == "topk":
        count = named.get("k", places[1] if len(places) > 1 else UNKNOWN)
        axis = named.get("dim", places[2] if len(places) > 2 else -1)
        return [largest := nearest(first, count, axis), largest]
    if name == "glu":
        axis = named.get("dim", places[1] if len(places) > 1 else -1)
        return machine.kept.keep(gated(first, axis if isinstance(axis, int) else -1))
    if name in {"chunk", "split", "tensor_split", "unbind"}:
        return parts_of(name, first, places, named)
    if name in {"interpolate", "upsample", "resize"}:
        return machine.kept.keep(resized(first, places, named))
    if "pool" in name:
        return _pooled(machine, name, first, places, named)
    if name in _MEANS:
        return _reduced(name, first, places, named)
    if name in _PATTERNED:
        return patterned(first, places[1] if len(places) > 1 else named.get("pattern"), named)
    if name in {"unfold", "fold"}:
        return _slid(machine, name, first, places, named)
    return Tensor(numel, reshaped(name, first.shape, numel, list(places[1:])))


def _is_pattern(places: Sequence[Value], named: Mapping[str, Value]) -> bool:
    """Whether einops' function of that name is meant, not a tensor's own."""
    return isinstance(places[1] if len(places) > 1 else named.get("pattern"), str)


def _slid(machine: Machine, name: str, first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Tensor:
    """Return windows side by side: a tensor's own ``unfold`` is told a side, a size and a step, and copies nothing."""
    if name == "unfold" and len(places) == 4 and not named and not isinstance(places[1], list):
        return slid(first, places[1:])
    return machine.kept.keep((unfolded if name == "unfold" else folded)(first, places[1:], named))


def _pooled(machine: Machine, name: str, first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    if name in POOLS and puts_channels_last(program.source for program in machine.programs):
        return machine.kept.keep(window_pooled(first, places, named), 2.0)
    rank = int(name[-2]) if name not in POOLS else len(first.shape or ()) - 2
    if name.startswith("adaptive"):
        sides = places[1] if len(places) > 1 else named.get("output_size", 1)
        side = float(sides) if isinstance(sides, (int, float)) else 1.0
        if first.shape is None or len(first.shape) != rank + 2:
            return Tensor(first.numel)
        shape = (*first.shape[:2], *(side,) * rank)
        return Tensor(numel_of(shape), shape)
    window = named.get("kernel_size", places[1] if len(places) > 1 else 2)
    step = named.get("stride") or (places[2] if len(places) > 2 else None) or window
    pad = named.get("padding", places[3] if len(places) > 3 else 0)
    return machine.kept.keep(shrunk(first, step, rank, window, pad), 3.0)


def _reduced(name: str, first: Tensor, places: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return means, sums and extremes over all numbers, or along sides; PyTorch gives extremes with where they stand."""
    axis = places[1] if len(places) > 1 else named.get("dim", named.get("axis"))
    axes = [a for a in (axis if isinstance(axis, list) else [axis]) if isinstance(a, int)]
    if axis is None or not first.shape or not all(-len(first.shape) <= a < len(first.shape) for a in axes):
        return Tensor(1.0, (1.0,)) if axis is None else Tensor(first.numel)
    taken = {a % len(first.shape) for a in axes}
    keeps = named.get("keepdim") is True or named.get("keepdims") is True
    shape = tuple(1.0 if p in taken else s for p, s in enumerate(first.shape) if keeps or p not in taken)
    is_pair = name in _PAIRS and "axis" not in named
    return [Tensor(numel_of(shape), shape) for _ in range(2)] if is_pair else Tensor(numel_of(shape), shape)


def _product(name: str, places: Sequence[Value], tensors: Sequence[Tensor]) -> Tensor:
    if name == "einsum" and places and isinstance(places[0], str) and "->" in places[0]:
        inner, _, outer = places[0].partition("->")
        sides: dict[str, float] = {}
        is_spaced = " " in inner.replace(", ", ",").strip()
        for words, tensor in zip(inner.split(","), tensors, strict=False):
            letters = words.split() if is_spaced else list(words.strip())
            if tensor.shape is not None and len(letters) == len(tensor.shape):
                sides.update(zip(letters, tensor.shape, strict=True))
        wanted = outer.split() if is_spaced else list(outer.strip())
        if all(letter in sides for letter in wanted):
            shape = tuple(sides[letter] for letter in wanted)
            return Tensor(numel_of(shape), shape)
    offset = 1 if name == "baddbmm" and len(tensors) > 2 else 0
    if len(tensors) - offset < 2:
        return Tensor(tensors[0].numel)
    return matrix_product(tensors[offset], tensors[offset + 1])
