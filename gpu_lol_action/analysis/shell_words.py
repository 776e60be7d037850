"""A command line's words as a shell has them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex

# A word of signs and closed quotes. No two of these begin alike, so that nothing is tried twice.
_WORD = regex(r"""(?:[^ \t\r\n'"]|'[^']*'|"[^"]*")+""")
# `> log` and `2>&1`; what begins with `<` and goes on may be a place to fill in.
_TO_FILE = regex(r"[\d&]?>>?|<")
_REDIRECTED = regex(r"[\d&]?>>?&?[\w./$-]+")
_QUOTED = regex(r"""'([^']*)'|"([^"]*)\"""")


def shell_words(text: str) -> list[str]:
    """Return what ``shlex.split`` does, in a quarter of its time where nothing is escaped. Raises ValueError where a quote does not close."""
    if "\\" in text:
        return shlex.split(text)
    words = _WORD.findall(text)
    if "'" not in text and '"' not in text:
        return words
    if _WORD.sub("", text).strip(" \t\r\n"):
        return shlex.split(text)  # which says what is wrong with it
    return [_QUOTED.sub(lambda found: found[1] or found[2] or "", word) for word in words]


def without_redirections(words: Sequence[str]) -> list[str]:
    """Return a command's words without what says where its input and output go (``< data > run.log 2>&1``)."""
    kept: list[str] = []
    is_file = False
    for word in words:
        if is_file:
            is_file = False
        elif _TO_FILE.fullmatch(word):
            is_file = True
        elif not _REDIRECTED.fullmatch(word):
            kept.append(word)
    return kept
