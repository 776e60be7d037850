"""TOML files as Python reads them."""

from __future__ import annotations

import sys
from typing import Any


def read_toml(text: str) -> dict[str, Any] | None:
    """Return what a TOML file holds; None where it is broken or nested too deeply."""
    # Late: many repositories have no such file.
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover - the same library under its older name
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
