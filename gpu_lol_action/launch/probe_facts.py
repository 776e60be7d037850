"""What a machine says, read as hostile data: any type, any size, any character may stand anywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_lol_action.domain.redaction import clean_text, redact

Version = tuple[int, ...]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object of JSON, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any, limit: int = 64) -> Sequence[Any]:
    """Return a list of JSON, cut to size, or an empty one."""
    return value[:limit] if isinstance(value, list) else ()


def number(value: Any) -> float | None:
    """Return a finite number (also one written as text, as nvidia-smi does), or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole(value: Any) -> int:
    """Return a whole number, 0 where there is none."""
    found = number(value)
    return int(found) if found is not None else 0


def shown(value: Any, limit: int = 160) -> str:
    """Return text that may stand in a sentence: one line, redacted, cut; empty for anything but text and numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    # What this Python cannot print goes before the redactor looks: it could stand in the middle of a secret.
    cleaned = "".join(each for each in clean_text(str(value)[: 4 * limit]) if each.isprintable() or each.isspace())
    text = " ".join(redact(cleaned).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def version_of(value: Any) -> Version:
    """Return the leading numbers of a version (``2.4.0+cu124``: 2, 4, 0), empty where it has none."""
    found = re.match(r"\d{1,6}(?:\.\d{1,6}){0,3}", value) if isinstance(value, str) else None
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def dotted(version: Version) -> str:
    """Return a version as text."""
    return ".".join(str(part) for part in version)


def gib(value: Any) -> float | None:
    """Return bytes as GiB, or None where there is no number."""
    found = number(value)
    return found / 2**30 if found is not None else None


def mib(value: Any) -> float | None:
    """Return MiB as nvidia-smi writes them, with the unit or without; None for `[N/A]` and its like."""
    return number(value.removesuffix(" MiB")) if isinstance(value, str) else number(value)
