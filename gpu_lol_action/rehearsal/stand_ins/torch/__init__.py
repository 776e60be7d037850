"""A stand-in for PyTorch on a machine without a GPU. It computes for real, slowly, on the CPU, in plain Python.

It answers what a validator asks: versions, CUDA availability, device names, memory, tensors of two dimensions with a right
matrix product, all-reduce by addition. ``torch.__stand_in__`` is True. Its facts, lies included, come from
/etc/gpu-lol-stand-in.json: ``torch_version``, ``torch_cuda_version``, ``torch_gpu_count``, ``gpu_name``, ``memory_mib``,
``compute_capability``, ``is_cuda_available``, ``matmul_error`` (added to each element of a product). What it lacks raises
AttributeError, as made-up answers would be worse than none.
"""

from __future__ import annotations

import random as _random
from collections.abc import Iterator, Sequence

from . import _facts, cuda, distributed, version
from ._devices import device
from ._dtypes import bfloat16, dtype, float16, float32, float64, round_to

__stand_in__ = True
__version__ = _facts.text("torch_version", "0")
__all__ = [
    "Tensor", "bfloat16", "cuda", "device", "distributed", "dtype", "eye", "float16", "float32", "float64", "full", "matmul",
    "ones", "rand", "randn", "tensor", "version", "zeros", "allclose", "manual_seed",
]  # fmt: skip


class Tensor:
    """Numbers in rows; one or two dimensions, or a single number."""

    def __init__(self, rows: list[list[float]], dims: int, kind: dtype, place: device) -> None:
        """Keep the numbers, rounded to what the type can hold."""
        self._rows = [[round_to(kind, value) for value in row] for row in rows]
        self._dims, self.dtype, self.device = dims, kind, place

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return ((), (len(self._rows[0]),), (len(self._rows), len(self._rows[0])))[self._dims]

    @property
    def is_cuda(self) -> bool:
        """Whether it claims to be on a GPU."""
        return self.device.type == "cuda"

    @property
    def T(self) -> Tensor:
        """The transposed matrix."""
        return self._like([list(column) for column in zip(*self._rows)])

    def _like(self, rows: list[list[float]], dims: int | None = None) -> Tensor:
        return Tensor(rows, self._dims if dims is None else dims, self.dtype, self.device)

    def _with(self, other: Tensor | float, operation: object) -> Tensor:
        assert callable(operation)
        if isinstance(other, Tensor):
            if other.shape != self.shape and other._dims != 0:
                raise RuntimeError(f"sizes {self.shape} and {other.shape} do not match")
            rows = other._rows if other._dims else [[other._rows[0][0]] * len(row) for row in self._rows]
        else:
            rows = [[float(other)] * len(row) for row in self._rows]
        return self._like([[operation(a, b) for a, b in zip(mine, theirs)] for mine, theirs in zip(self._rows, rows)])

    def __add__(self, other: Tensor | float) -> Tensor:
        """Add element by element."""
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Tensor | float) -> Tensor:
        """Subtract element by element."""
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Tensor | float) -> Tensor:
        """Multiply element by element."""
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        """Divide element by element."""
        return self._with(other, lambda a, b: a / b)

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other: Tensor) -> Tensor:
        """Return the matrix product, summed in double precision and rounded to the type."""
        if self._dims != 2 or other._dims != 2 or self.shape[1] != other.shape[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape} and {other.shape})")
        if self.dtype != other.dtype:
            raise RuntimeError(f"expected both matrices to have the same dtype, but got {self.dtype} and {other.dtype}")
        if self.device != other.device:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found {self.device} and {other.device}"
            )
        wrong = _facts.number("matmul_error", 0.0) if self.is_cuda else 0.0
        columns = list(zip(*other._rows))
        return self._like(
            [[sum(a * b for a, b in zip(row, column)) + wrong for column in columns] for row in self._rows]
        )

    matmul = mm = __matmul__

    def __getitem__(self, key: int | tuple[int, int]) -> Tensor:
        """Return a row, or one number."""
        if isinstance(key, tuple):
            return self._like([[self._rows[key[0]][key[1]]]], 0)
        return self._like([[self._rows[0][key]]], 0) if self._dims == 1 else self._like([self._rows[key]], 1)

    def __iter__(self) -> Iterator[Tensor]:
        """Go over the first dimension."""
        return (self[index] for index in range(self.shape[0]))

    def __len__(self) -> int:
        """Return the size of the first dimension."""
        return self.shape[0]

    def _flat(self) -> list[float]:
        return [value for row in self._rows for value in row]

    def item(self) -> float:
        """Return the only number."""
        (value,) = self._flat()
        return value

    def __float__(self) -> float:
        """Return the only number."""
        return self.item()

    def __bool__(self) -> bool:
        """Whether the only number is not zero."""
        return bool(self.item())

    def tolist(self) -> float | list[float] | list[list[float]]:
        """Return plain lists."""
        return self.item() if self._dims == 0 else (self._rows[0] if self._dims == 1 else self._rows)

    def to(self, *targets: object, **named: object) -> Tensor:
        """Return the tensor as another type, on another device, or both."""
        kind, place = self.dtype, self.device
        for target in (*targets, *(value for key, value in named.items() if key in ("dtype", "device"))):
            if isinstance(target, dtype):
                kind = target
            elif isinstance(target, (str, device)):
                place = device(target)
        return Tensor(self._rows, self._dims, kind, place)

    def cuda(self) -> Tensor:
        """Return it on the first GPU."""
        return self.to("cuda")

    def cpu(self) -> Tensor:
        """Return it on the CPU."""
        return self.to("cpu")

    def float(self) -> Tensor:
        """Return it in single precision."""
        return self.to(float32)

    def double(self) -> Tensor:
        """Return it in double precision."""
        return self.to(float64)

    def bfloat16(self) -> Tensor:
        """Return it as bfloat16."""
        return self.to(bfloat16)

    def half(self) -> Tensor:
        """Return it as float16."""
        return self.to(float16)

    def t(self) -> Tensor:
        """Return the transposed matrix."""
        return self.T

    def abs(self) -> Tensor:
        """Return the absolute values."""
        return self._like([[abs(value) for value in row] for row in self._rows])

    def max(self) -> Tensor:
        """Return the largest number."""
        return self._like([[max(self._flat())]], 0)

    def min(self) -> Tensor:
        """Return the smallest number."""
        return self._like([[min(self._flat())]], 0)

    def sum(self) -> Tensor:
        """Return the sum."""
        return self._like([[sum(self._flat())]], 0)

    def mean(self) -> Tensor:
        """Return the mean."""
        return self._like([[sum(self._flat()) / len(self._flat())]], 0)

    def norm(self) -> Tensor:
        """Return the Euclidean norm."""
        return self._like([[sum(value * value for value in self._flat()) ** 0.5]], 0)


def _shape(sizes: Sequence[object]) -> tuple[int, int, int]:
    """Return rows, columns and number of dimensions for ``ones(2, 3)`` or ``ones((2, 3))``."""
    flat = [int(str(size)) for size in (sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)]
    if not 1 <= len(flat) <= 2:
        raise RuntimeError("the stand-in has one or two dimensions")
    return (1, flat[0], 1) if len(flat) == 1 else (flat[0], flat[1], 2)


def _filled(sizes: Sequence[object], number: object, options: dict[str, object]) -> Tensor:
    assert callable(number)
    rows, columns, dims = _shape(sizes)
    kind = options.get("dtype") or float32
    place = options.get("device") or "cpu"
    assert isinstance(kind, dtype) and isinstance(place, (str, device))
    return Tensor(
        [[number(row, column) for column in range(columns)] for row in range(rows)], dims, kind, device(place)
    )


def zeros(*sizes: object, **options: object) -> Tensor:
    """Return a tensor of zeros."""
    return _filled(sizes, lambda row, column: 0.0, options)


def ones(*sizes: object, **options: object) -> Tensor:
    """Return a tensor of ones."""
    return _filled(sizes, lambda row, column: 1.0, options)


def full(sizes: Sequence[int], value: float, **options: object) -> Tensor:
    """Return a tensor of one value."""
    return _filled([tuple(sizes)], lambda row, column: float(value), options)


def eye(size: int, **options: object) -> Tensor:
    """Return the identity matrix."""
    return _filled([size, size], lambda row, column: 1.0 if row == column else 0.0, options)


def rand(*sizes: object, **options: object) -> Tensor:
    """Return numbers from 0 to 1."""
    return _filled(sizes, lambda row, column: _random.random(), options)


def randn(*sizes: object, **options: object) -> Tensor:
    """Return normally distributed numbers."""
    return _filled(sizes, lambda row, column: _random.gauss(0.0, 1.0), options)


def tensor(data: float | Sequence[float] | Sequence[Sequence[float]], **options: object) -> Tensor:
    """Return a tensor of the given numbers."""
    if isinstance(data, (int, float)):
        rows, dims = [[float(data)]], 0
    elif data and isinstance(data[0], (list, tuple)):
        rows, dims = [[float(value) for value in row] for row in data if isinstance(row, (list, tuple))], 2
    else:
        rows, dims = [[float(value) for value in data if isinstance(value, (int, float))]], 1
    made = Tensor(rows, dims, float32, device("cpu"))
    return made.to(*(value for value in options.values() if value is not None))


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """Return the matrix product."""
    return left @ right


mm = matmul


def allclose(left: Tensor, right: Tensor, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether all elements are close."""
    return all(abs(a - b) <= atol + rtol * abs(b) for a, b in zip(left._flat(), right._flat()))


def manual_seed(seed: int) -> None:
    """Make random numbers repeat."""
    _random.seed(seed)
