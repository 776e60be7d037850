"""The nearest valid words to one that is not: what "did you mean" is made of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, valid: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to ``limit`` valid words that are close to ``word``, nearest first, in any case."""
    folded = {candidate.lower(): candidate for candidate in valid}
    matches = difflib.get_close_matches(word.lower()[:80], folded, n=limit, cutoff=0.6)
    return tuple(folded[match] for match in matches)
