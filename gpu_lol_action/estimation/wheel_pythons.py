"""The newest Python for which old releases of compiled packages have wheels: with a newer one pip compiles them, and mostly fails.

Typed by hand; of ten of these pairs pip was asked for the wheel, and had it. Where the first patches of a release came before a
Python's wheels did, the Python before that one stands here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_lol_action.domain.patterns import regex

NEWEST = 11
"""The minor version of the Python that is taken where nothing speaks against it."""
# Package, release, minor version of Python 3.
_NEWEST: dict[str, dict[str, int]] = {
    "numpy": {"1.11": 5, "1.12": 6, "1.13": 6, "1.14": 6, "1.15": 7, "1.16": 7, "1.17": 7, "1.18": 8, "1.19": 8, "1.20": 9, "1.21": 9,
              "1.22": 10, "1.23": 10},
    "scipy": {"0.18": 5, "0.19": 6, "1.0": 6, "1.1": 7, "1.2": 7, "1.3": 7, "1.4": 8, "1.5": 8, "1.6": 9, "1.7": 9, "1.8": 10, "1.9": 10},
    "pandas": {"0.19": 5, "0.20": 6, "0.21": 6, "0.22": 6, "0.23": 6, "0.24": 7, "0.25": 7, "1.0": 8, "1.1": 8, "1.2": 9, "1.3": 9,
               "1.4": 10},
    "scikit-learn": {"0.18": 5, "0.19": 6, "0.20": 7, "0.21": 7, "0.22": 8, "0.23": 8, "0.24": 9, "1.0": 9, "1.1": 10},
}  # fmt: skip
_PINNED = regex(r"([A-Za-z][\w.-]{0,60})\s{0,4}==\s{0,4}(\d{1,3}\.\d{1,3})(?:\.\d{1,3}){0,2}\s{0,4}(?:;.{0,300})?$")


def newest_python(requirements: Iterable[str]) -> str:
    """Return the newest Python (``3.8``) for which all that is pinned has wheels; empty where the usual one has them."""
    found = (_PINNED.match(requirement.strip()[:400]) for requirement in requirements)
    minors = [
        _NEWEST.get(re.sub(r"[_.]", "-", pin[1].lower()), {}).get(pin[2], NEWEST) for pin in found if pin is not None
    ]
    least = min(minors, default=NEWEST)
    return f"3.{least}" if least < NEWEST else ""
