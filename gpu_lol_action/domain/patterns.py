r"""Regular expressions that are compiled when a text is first asked of which one of their words stands in.

The analyzer has some eight hundred, of which a small repository asks half and finds a quarter: compiling all of them took a fifth
of its time. What cannot match without one of a few words (``\bmemory of (\d+)`` without ``memory``) is not even compiled for texts
that hold none; the words are those of ``data/pattern_words.tsv``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, cast

from gpu_lol_action.domain import kept_patterns
from gpu_lol_action.domain.digests import blake2
from gpu_lol_action.domain.tables import table_text

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")
_REPLACING = ("sub", "subn")
LONG_TEXT = 2_000
"""Characters from which looking for words is always sooner done than matching: a file, not a line."""
MAX_FRUITLESS = 100
"""Shorter texts that are looked through for words before the expression is compiled all the same: of many, it is the faster look."""


_IGNORES_CASE = int(re.IGNORECASE)
_RARE = ("\u0130", "\u0131", "\u017f")
"""Dotted and dotless i, long s: to an expression that ignores case they are an i or an s, which making them small does not show."""


class _Late:
    """Stands for a regular expression until it is asked; from then on its methods are the compiled one's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = int(flags)

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS and (words := words_of(self.pattern, self.given_flags)):
            asked = _Asked(self, name, words)
            setattr(self, name, asked)
            return asked
        if name not in _METHODS and name not in ("flags", "groups", "groupindex"):
            raise AttributeError(name)
        return getattr(self.compiled(), name)

    def compiled(self) -> re.Pattern[str]:
        """Return the compiled expression, whose methods this one has from now on."""
        compiled = self.made()
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return compiled

    def made(self) -> re.Pattern[str]:
        """Return the compiled expression."""
        return kept_patterns.compiled(self.pattern, self.given_flags)


class _Asked:
    """A method of an expression, which answers by itself where a text holds none of the expression's words.

    Of whole files always; of a line only while the expression is not compiled, which is soon done where its code is kept.
    """

    def __init__(self, late: _Late, name: str, words: tuple[str, ...]) -> None:
        self.late = late
        self.name = name
        self.words = words
        self.fruitless = MAX_FRUITLESS if kept_patterns.has(late.pattern, late.given_flags) else 0
        self.of_long: Any = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        text = given[self.name in _REPLACING] if len(given) > (self.name in _REPLACING) else None
        is_long = isinstance(text, str) and len(text) >= LONG_TEXT
        if (
            isinstance(text, str)
            and (is_long or self.fruitless < MAX_FRUITLESS)
            and not _holds_one(text, self.words, self.late.given_flags)
        ):
            self.fruitless += not is_long
            return _nothing_found(self.name, text)
        if is_long:
            self.of_long = self.of_long or getattr(self.late.made(), self.name)
            return self.of_long(*given, **named)
        method = getattr(self.late, self.name)
        return getattr(self.late.compiled() if method is self else self.late, self.name)(*given, **named)


def _holds_one(text: str, words: tuple[str, ...], flags: int) -> bool:
    if flags & _IGNORES_CASE:
        if not text.isascii() and any(letter in text for letter in _RARE):
            return True
        text = _small(text) if len(text) >= LONG_TEXT else text.lower()
    return any(word in text for word in words)


@functools.lru_cache(maxsize=2)  # one file is asked by many expressions in turn
def _small(text: str) -> str:
    return text.lower()


def _nothing_found(method: str, text: str) -> Any:
    if method in ("search", "match", "fullmatch"):
        return None
    if method == "finditer":
        return iter(())
    return {"findall": [], "split": [text], "sub": text, "subn": (text, 0)}[method]


def may_match(expression: re.Pattern[str], text: str) -> bool:
    """Whether a line holds one of the words without which an expression of ``regex`` matches nothing; true where none are known.

    For many lines of which hardly any does: one look at 40 names of cards takes a tenth of what matching them takes.
    """
    flags = cast("_Late", expression).given_flags
    words = words_of(expression.pattern, flags)
    return not words or _holds_one(text, words, flags)


@functools.lru_cache(maxsize=4096)
def words_of(pattern: str, flags: int) -> tuple[str, ...]:
    """Return words of which one stands in every text that the expression matches, small where it ignores case; empty: unknown."""
    return _known_words().get(key_of(pattern, flags), ())


def key_of(pattern: str, flags: int) -> str:
    """Return what stands for an expression in the table of words."""
    return blake2(f"{int(flags)}:{pattern}".encode(), 8).hex()


@functools.cache
def _known_words() -> Mapping[str, tuple[str, ...]]:
    lines = (line.split("\t") for line in table_text("pattern_words.tsv").split("\n"))
    return {key: tuple(words) for key, *words in lines}


@functools.cache  # as many as this package writes down: what is made of an answer or of a checkout's names is for `re`
def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression as ``re.compile`` does; a faulty one is found out when it first has something to find.

    One and the same for the same words, so that it may be written where it is used.
    It answers the methods of a compiled one, but is none: ``re.sub`` and its like take text.
    """
    return cast("re.Pattern[str]", _Late(pattern, flags))
