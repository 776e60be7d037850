from __future__ import annotations

import gc
import importlib
import pkgutil
import re
from typing import cast

import pytest

from gpu_lol_action import analysis, estimation
from gpu_lol_action.domain import patterns
from gpu_lol_action.domain.patterns import regex

WORD = r"(?P<letters>[a-z]+)(\d)"


def test_a_pattern_answers_as_a_compiled_one() -> None:
    compiled = re.compile(WORD, re.IGNORECASE)
    text = "Ab1, cd2; 3"
    for method in ("search", "match"):
        ours, theirs = getattr(regex(WORD, re.IGNORECASE), method)(text), getattr(compiled, method)(text)
        assert (ours.span(), ours.groupdict()) == (theirs.span(), theirs.groupdict())
    whole = regex(WORD, re.IGNORECASE).fullmatch("ab1")
    assert whole is not None
    assert whole[2] == "1"
    assert regex(WORD, re.IGNORECASE).fullmatch(text) is None
    assert [found.span() for found in regex(WORD, re.IGNORECASE).finditer(text)] == [(0, 3), (5, 8)]
    assert regex(WORD, re.IGNORECASE).findall(text) == compiled.findall(text)
    assert regex(WORD, re.IGNORECASE).split(text) == compiled.split(text)
    assert regex(WORD, re.IGNORECASE).sub("-", text, count=1) == "-, cd2; 3"
    assert regex(WORD, re.IGNORECASE).subn("-", text) == ("-, -; 3", 2)
    late = regex(WORD, re.IGNORECASE)
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert dict(late.groupindex) == {"letters": 1}


def test_flags_are_kept_and_a_pattern_is_asked_again_and_again() -> None:
    assert regex("a.b").search("A\nB") is None
    late = regex("a.b", re.IGNORECASE | re.DOTALL)
    assert all(late.search("A\nB") is not None for _ in range(3))


def test_nothing_is_compiled_before_it_is_asked() -> None:
    faulty = regex("(")
    assert faulty.pattern == "("
    with pytest.raises(re.error):
        faulty.search("")


def test_what_is_no_part_of_a_pattern_is_refused_as_anywhere() -> None:
    with pytest.raises(AttributeError):
        regex("a").scan  # type: ignore[attr-defined]  # noqa: B018 looked up on purpose


def test_every_pattern_of_the_analyzer_compiles() -> None:
    """A faulty one would be found by the first repository that has to do with it."""
    for room in (analysis, estimation):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    kind = type(regex(""))
    patterns = [each for each in gc.get_objects() if type(each) is kind and each.pattern != "("]
    assert len(patterns) > 400
    assert all(each.groups >= 0 for each in patterns)


@pytest.mark.parametrize("size", [0, 5_000])
@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("needs MEMORY of 7", True),
        ("Küche: memory OF 7", True),
        ("\u212aelvin", False),
        ("nichts, ganz großes Nichts", False),
        ("memory", False),
    ],
)
def test_a_file_and_a_line_are_answered_alike(size: int, text: str, is_found: bool) -> None:
    search = _asked(regex(r"\bmemory of (\d+)", re.IGNORECASE), "memory of ")
    for _ in range(3):
        found = search(" x" * size + f" {text}")
        assert (found is not None and found[1] == "7") == is_found


@pytest.mark.parametrize("letter", ["\u0130", "\u0131", "\u017f", "\u212a"])
def test_a_text_of_letters_with_rare_relatives_is_no_text_without_a_word(letter: str) -> None:
    """To an expression that ignores case, these are an i, an i, an s and a k."""
    plain = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}[letter]
    assert re.search(f"a{plain}b", f"A{letter}B", re.IGNORECASE)
    for size in (0, 5_000):
        assert _asked(regex(f"a{plain}b", re.IGNORECASE), f"a{plain}b")(" x" * size + f"A{letter}B")


def _asked(late: re.Pattern[str], word: str) -> patterns._Asked:
    """Return what answers a search, as an expression has it of which the table of words knows this one."""
    return patterns._Asked(cast("patterns._Late", late), "search", (word,))
