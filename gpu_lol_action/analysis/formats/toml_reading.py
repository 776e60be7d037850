"""TOML files as Python reads them."""

from __future__ import annotations

import sys
from typing import Any

MAX_DOTS = 400
"""Of one line: the reader walks every beginning of a dotted key, so that one of 65,000 parts takes minutes and gigabytes."""


def read_toml(text: str) -> dict[str, Any] | None:
    """Return what a TOML file holds; None where it is broken or nested too deeply."""
    if text.count(".") > MAX_DOTS and max(line.count(".") for line in text.split("\n")) > MAX_DOTS:
        return None
    # Late: many repositories have no such file.
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover - the same library under its older name
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
