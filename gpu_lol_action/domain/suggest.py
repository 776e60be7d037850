"""The nearest valid words to one that is not: what "did you mean" is made of."""

from __future__ import annotations

from collections.abc import Iterable

MAX_WORD_CHARACTERS = 80
CUTOFF = 0.6
"""difflib's similarity from which two words count as near; its own default."""


def nearest(word: str, valid: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to ``limit`` valid words that look like ``word`` or hold it, nearest first, in any case."""
    import difflib

    folded = {candidate.lower(): candidate for candidate in valid}
    given = word.lower()[:MAX_WORD_CHARACTERS]
    close = difflib.get_close_matches(given, folded, n=limit, cutoff=CUTOFF)
    holding = [
        name for name in sorted(folded) if len(given) >= 3 and (given in name or (name in given and len(name) >= 3))
    ]
    return tuple(dict.fromkeys(folded[name] for name in [*close, *holding]))[:limit]
