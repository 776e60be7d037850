"""A model's size as people say it: billions of parameters, and millions where it has less than a tenth of one."""

from __future__ import annotations

LEAST_B = 0.1
LEAST_M = 0.1


def parameters(size_b: float) -> str:
    """Return ``6.74 B parameters`` of a size in billions, ``86.4 M parameters`` of a smaller one, to three digits."""
    if 0 < size_b < LEAST_M / 1000:
        return f"{1e6 * size_b:.3g} k parameters"
    if 0 < size_b < LEAST_B:
        return f"{1000 * size_b:.3g} M parameters"
    return f"{size_b:.0f} B parameters" if size_b >= 1000 else f"{size_b:.3g} B parameters"
