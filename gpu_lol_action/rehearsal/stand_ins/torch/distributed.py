"""Collectives are not played: one process computes them in place."""

from __future__ import annotations


def is_available() -> bool:
    """Whether collectives work: not here, and the stand-in does not pretend."""
    return False


def is_nccl_available() -> bool:
    """Whether NCCL is there: it is not."""
    return False
