"""Functions of a script that take words by their places: what they start is read where they are called, with what they are handed there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gpu_lol_action.analysis.command_lines.shell_words import shell_words
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

Numbered = tuple[int, str]
MAX_BODY = 80
MAX_CALLS = 20
MAX_WORDS = 20
_HEAD = regex(
    r"([ \t]{0,20})(?:function[ \t]{1,4})?([A-Za-z_][\w-]{0,60})[ \t]{0,4}(?:\([ \t]{0,2}\))?[ \t]{0,4}\{[ \t]*$"
)
_IS_HEAD = regex(r"[ \t]{0,20}(?:function[ \t]|[\w-]{1,60}[ \t]{0,4}\()")
_PLACE = regex(r"\$(?:\{([1-9])(?::?-([^{}]{0,120}))?\}|([1-9])(?!\d))|\"?\$(?:[@*]|\{[@*]\})\"?")
# What moves the words, or asks how many there are, is more than putting them in.
_MOVES = regex(r"\bshift\b|\bgetopts\b|\$#|\$\{#")


@record(frozen=True, slots=True)
class _Function:
    """A function's lines, and the numbers of its first and last line with what is around them."""

    body: tuple[Numbered, ...]
    first: int
    last: int


def with_called_functions(numbered: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield a script's lines, those of its functions in the place of each call; a function that is not called stands where it is."""
    lines = list(numbered)
    functions = dict(_functions(lines))
    called = {name for name in functions if any(_words_of(line, name) is not None for _, line in lines)}
    inner = {number for name in called for number in range(functions[name].first, functions[name].last + 1)}
    left = MAX_CALLS
    for number, line in lines:
        if number in inner:
            continue
        first = line.split(None, 1)[0] if line.strip() else ""
        words = _words_of(line, first) if first in called else None
        if words is None or left <= 0:
            yield number, line
            continue
        left -= 1
        yield from ((place, _put(text, words)) for place, text in functions[first].body)


def _functions(lines: Sequence[Numbered]) -> Iterator[tuple[str, _Function]]:
    """Yield the functions that take words by their places, and do nothing with these but to put them in."""
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at][1]) if _IS_HEAD.match(lines[at][1]) else None
        closing = f"{head[1]}}}" if head is not None else ""
        inner = lines[at + 1 : at + 1 + MAX_BODY] if head is not None else []
        end = next((place for place, (_, line) in enumerate(inner) if line.rstrip() == closing), None)
        if head is None or end is None:
            at += 1
            continue
        body = tuple(inner[:end])
        text = "\n".join(line for _, line in body)
        if _PLACE.search(text) and not _MOVES.search(text):
            yield head[2], _Function(body, lines[at][0], inner[end][0])
        at += end + 2


def _words_of(line: str, name: str) -> list[str] | None:
    """Return what a line hands a function; None where it does not call it so that its words can be told."""
    text = line.strip()
    if not text.startswith(f"{name} ") or text.endswith("\\") or any(mark in text for mark in "|;&<>`("):
        return None
    try:
        words = shell_words(text)[1:]
    except ValueError:
        return None
    return words[:MAX_WORDS]


def _put(text: str, words: Sequence[str]) -> str:
    def put(found: re.Match[str]) -> str:
        place = found[1] or found[3]
        if place is None:
            return " ".join(words)
        return words[int(place) - 1] if int(place) <= len(words) else (found[2] or "")

    return _PLACE.sub(put, text)
