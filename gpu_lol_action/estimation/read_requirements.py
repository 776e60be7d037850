"""Lines of requirements as pip understands them, each read once: a list is asked some thirty times whom it names and in which release."""

from __future__ import annotations

import functools

from packaging.requirements import InvalidRequirement, Requirement


@functools.lru_cache(maxsize=1024)
def read_requirement(text: str) -> Requirement | None:
    """Return a requirement by PEP 508, not to be changed by who gets it; None where the text is none."""
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None
