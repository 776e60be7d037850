"""What a script hands on of the words that it is started with: ``python train.py --fp16 "$@"``, ``PY_ARGS=${@:3}``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from gpu_lol_action.domain.patterns import regex

ALL = "@"
"""The name of all words, among the variables that a script is given."""
MOST_WORDS = 120
_MARK = "\x1f"
_PUT = regex(r"\"?\$(?:[@*]|\{[@*](?::(\d{1,2})(?::(\d{1,2}))?)?\})\"?")
_SHIFTS = regex(r"(?:^|\n|;|&&)[ \t]{0,40}shift\b[ \t]{0,8}(\d{1,2})?")
# In a function they are what that is called with; a loop over them takes out what it knows.
_FUNCTION = regex(r"(?:^|\n)[ \t]{0,40}(?:function[ \t]+[\w-]+|[\w-]+[ \t]{0,4}\(\))[\s()]{0,8}\{")
_LOOP = regex(r"\b(?:while|until)\b[^\n]{0,120}(?:\$#|getopts|\$\{?1|:)|\bgetopt\b")


def handed_words(script: str, words: Sequence[str]) -> dict[str, str]:
    """Return what a script is handed altogether, behind what it shifts away; nothing where that is nothing, or its text does not tell what is left of it."""
    if "$@" not in script and "{@" not in script and "$*" not in script and "{*" not in script:
        return {}
    if not words or len(words) > MOST_WORDS or _FUNCTION.search(script) or _LOOP.search(script):
        return {}
    gone = sum(int(found[1] or 1) for found in _SHIFTS.finditer(script))
    return {ALL: _MARK.join(_as_blank(word) for word in words[gone:] if word != "\\")}


def with_handed(text: str, variables: Mapping[str, str]) -> str:
    """Return a line with the words put in that the script was handed, all or from one on."""
    if ALL not in variables or ("@" not in text and "*" not in text):
        return text
    words = [word for word in variables[ALL].split(_MARK) if word]

    def put(first: str | None, most: str | None) -> str:
        start = max(int(first or 1) - 1, 0)
        return " ".join(shlex.quote(word) for word in words[start : start + int(most) if most else None])

    return _PUT.sub(lambda found: put(found[1], found[2]), text)


def _as_blank(word: str) -> str:
    """Return a word whose value is the reader's own as such: the script may have a variable of that name."""
    head, equals, value = word.partition("=")
    if equals and value.startswith("$"):
        return f"{head}=<{value.strip('${}')}>"
    return f"<{word.strip('${}')}>" if word.startswith("$") else word
