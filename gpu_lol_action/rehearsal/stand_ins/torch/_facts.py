"""What this machine claims, from the file that the rehearsal wrote."""

from __future__ import annotations

import json
import os

_FILE = os.environ.get("GPU_LOL_STAND_IN_FILE", "/etc/gpu-lol-stand-in.json")


def _load() -> dict[str, object]:
    with open(_FILE, encoding="utf-8") as file:
        return dict(json.load(file))


def text(key: str, default: str) -> str:
    """Return a fact as text."""
    return str(_load().get(key, default))


def number(key: str, default: float) -> float:
    """Return a fact as a number."""
    value = _load().get(key, default)
    return float(value) if isinstance(value, (int, float, str)) else default


def flag(key: str, default: bool) -> bool:
    """Return a fact as yes or no."""
    return bool(_load().get(key, default))
