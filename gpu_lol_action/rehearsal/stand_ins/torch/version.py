"""Versions, as ``torch.version`` has them."""

from __future__ import annotations

from . import _facts

__version__ = _facts.text("torch_version", "0")
cuda: str | None = _facts.text("torch_cuda_version", "") or None
hip = None
