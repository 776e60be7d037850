"""Number types, and what a value becomes when one of them holds it."""

from __future__ import annotations

import struct


class dtype:
    """A number type, compared by identity."""

    def __init__(self, name: str) -> None:
        """Keep the name."""
        self._name = name

    def __repr__(self) -> str:
        """Return ``torch.float32`` and so on."""
        return f"torch.{self._name}"


float64, float32, float16, bfloat16 = (dtype(name) for name in ("float64", "float32", "float16", "bfloat16"))


def round_to(kind: dtype, value: float) -> float:
    """Return the nearest value that the type can hold (ties to even)."""
    if kind is float32:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    if kind is float16:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    if kind is bfloat16:  # the upper half of a single
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    return value
