"""Digests without OpenSSL, which ``hashlib`` loads beside them: that takes longer than all that a small analysis has digested.

BLAKE2 says whether two files are the same, SHA-256 what an estimate is of; CPython has both in modules of its own, which another
Python may lack or call otherwise.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any


def _found(name: str, *modules: str) -> Callable[..., Any]:
    for module in modules:
        with contextlib.suppress(ImportError, AttributeError):
            made: Callable[..., Any] = getattr(importlib.import_module(module), name)
            return made
    raise ImportError(name)


_blake2b = _found("blake2b", "_blake2", "hashlib")
_sha256 = _found("sha256", "_sha2", "_sha256", "hashlib")


def blake2(content: bytes, size: int) -> bytes:
    """Return the BLAKE2b digest of so many bytes."""
    digest: bytes = _blake2b(content, digest_size=size).digest()
    return digest


def sha256(content: bytes) -> bytes:
    """Return the SHA-256 digest."""
    digest: bytes = _sha256(content).digest()
    return digest
