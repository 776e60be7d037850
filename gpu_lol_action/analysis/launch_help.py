"""Commands that print how they are used, or their version, and end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_WORDS = frozenset({"--help", "-h", "--version"})


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether a command starts nothing; a value behind the word makes it an option like others (``--version v1``)."""
    return any(word in _WORDS and after.startswith("-") for word, after in pairwise([*words, "-"]))
