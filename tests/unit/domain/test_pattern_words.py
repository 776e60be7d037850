"""Words without which an expression cannot match: read out of it, kept in a table, asked before it is compiled."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_lol_action import analysis, domain, estimation
from gpu_lol_action.domain import patterns
from gpu_lol_action.domain.patterns import MAX_FRUITLESS, key_of, may_match, regex, words_of

ROOT = Path(__file__).resolve().parents[3]


def load_script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("render_patterns", str(ROOT / "scripts/render-patterns"))
    spec = importlib.util.spec_from_loader("render_patterns", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


SCRIPT = load_script()
PARTS = 20


@functools.cache
def expressions() -> list[tuple[str, int]]:
    """Return the analyzer's expressions of which the table knows words."""
    for room in (analysis, domain, estimation):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    kind = type(regex(""))
    found = {(each.pattern, int(each.given_flags)) for each in gc.get_objects() if type(each) is kind}
    return sorted(each for each in found if words_of(*each))


@pytest.mark.parametrize(
    ("pattern", "flags", "words"),
    [
        (r"\bmemory of (\d+)", 0, ("memory of ",)),
        (r"\d+ (?:cards?|GPUs?)\b", 0, (" GPU", " card")),
        (r"(?:train|fine-?tun(?:e|ing))\.py", 0, ("fine", "train")),
        (r"(?:rl|ppo)\.py", 0, (".py",)),
        (r"(?:\bA100\b){1,3}", 0, ("A100",)),
        (r"(?:A100)?\s*x", 0, ("x",)),
        (r"\b(?:cutorch|cunn|cu\d)\b", 0, ("cu",)),
        (r"\b(?:cutorch|cunn|cudnn\.torch)\b", 0, ("cudnn.torch", "cunn", "cutorch")),
        (r"a(?=bcd)", 0, ("bcd",)),
        (r"ab(?!cd)ef", 0, ("abef",)),
        (r"^ab$\n^cd", re.MULTILINE, ("ab\ncd",)),
        (r"[xX*]\d+", 0, ("*", "X", "x")),
        (r"Memory", re.IGNORECASE, ("memory",)),
        (r"\s* A100  # a card", re.VERBOSE, ("A100",)),
    ],
)
def test_what_every_match_holds_is_read_out_of_an_expression(pattern: str, flags: int, words: tuple[str, ...]) -> None:
    expected = () if "\n" in "".join(words) else words  # a word of several lines does not go into a table
    assert SCRIPT.needed(pattern, flags) == expected


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        (r"\d+", 0),
        (r"(?:A100)*", 0),
        (r"A100|\d", 0),
        (r"A100|", 0),
        (r"[^x]", 0),
        (r"[a-c]", 0),
        (r"(?i:A100)", 0),
        (r"(?i)A100", 0),  # does not show in the flags that it was given
        (r"\u017f", re.IGNORECASE),  # the long s is an s
        (r"\u212a", re.IGNORECASE),  # the sign of Kelvin is a k
        (r"(\w)\1", 0),
        (r"(a)?(?(1)b|c)", 0),
    ],
)
def test_where_no_word_is_sure_none_is_told(pattern: str, flags: int) -> None:
    assert SCRIPT.needed(pattern, flags) == ()


def test_the_table_is_what_the_expressions_say() -> None:
    # In a process of its own: expressions are noted when their modules are loaded, which here they are.
    done = subprocess.run(
        [sys.executable, "scripts/render-patterns", "--check"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"run: .venv/bin/python scripts/render-patterns\n{done.stdout}{done.stderr}"
    assert len(expressions()) > 700


@pytest.mark.parametrize("part", range(PARTS))
def test_what_an_expression_matches_holds_one_of_its_words(part: int) -> None:
    """Held against matches that were made from the expressions themselves."""
    known = expressions()[part::PARTS]

    @settings(
        max_examples=len(known), database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def hold(data: st.DataObject) -> None:
        pattern, flags = data.draw(st.sampled_from(known))
        compiled = re.compile(pattern, flags)
        text = data.draw(st.from_regex(compiled))
        held = [found.group() for found in regex(pattern, flags).finditer(text)]
        assert held == [found.group() for found in compiled.finditer(text)]

    hold()


PATTERN = r"\b(memory|VRAM) of (\d+)"
TEXTS = ("memory of 24, vram of 8", "Memory OF 24", "nothing", "", "memory of none", "\u017fMEMORY of 3")


@pytest.fixture(params=[0, re.IGNORECASE])
def late(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    flags: int = request.param
    words = SCRIPT.needed(PATTERN, flags)
    assert words
    monkeypatch.setattr(patterns, "_known_words", lambda: {key_of(PATTERN, flags): words})
    return flags


def asked_first(pattern: str, flags: int) -> re.Pattern[str]:
    """Return an expression that nobody has asked yet: the same words give the same one otherwise."""
    regex.cache_clear()
    return regex(pattern, flags)


def test_the_same_words_give_the_same_expression_wherever_they_stand() -> None:
    assert regex(PATTERN, re.IGNORECASE) is regex(PATTERN, re.IGNORECASE)
    assert regex(PATTERN) is not regex(PATTERN, re.IGNORECASE)


@pytest.mark.parametrize("text", TEXTS)
def test_an_expression_answers_alike_whether_it_was_compiled(late: int, text: str) -> None:
    compiled = re.compile(PATTERN, late)
    for method, begin in (("search", 0), ("search", 3), ("match", 0), ("fullmatch", 0)):
        ours, theirs = getattr(regex(PATTERN, late), method)(text, begin), getattr(compiled, method)(text, begin)
        assert (ours and ours.span()) == (theirs and theirs.span())
    assert [f.span() for f in regex(PATTERN, late).finditer(text)] == [f.span() for f in compiled.finditer(text)]
    assert regex(PATTERN, late).findall(text) == compiled.findall(text)
    assert regex(PATTERN, late).split(text) == compiled.split(text)
    assert regex(PATTERN, late).sub(r"\2", text) == compiled.sub(r"\2", text)
    assert regex(PATTERN, late).subn("-", text, count=1) == compiled.subn("-", text, count=1)


def test_it_is_compiled_for_the_first_text_that_holds_a_word_and_not_before(
    late: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = re.compile

    def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
        made.append(pattern)
        return real(pattern, flags)

    monkeypatch.setattr(patterns.re, "compile", compiled)
    asked = asked_first(PATTERN, late)
    search = asked.search
    assert [search("nothing"), asked.match(""), asked.findall("of 24")] == [None, None, []]
    assert made == []
    assert search("memory of 24") is not None
    assert search("nothing") is None
    assert asked.search("memory of 8") is not None
    assert made == [PATTERN]


def test_where_many_texts_hold_no_word_it_is_compiled_all_the_same(late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_first(PATTERN, late)
    assert not any(asked.search("nothing") for _ in range(MAX_FRUITLESS))
    assert not isinstance(asked.search, type(re.compile("").search))
    assert asked.search("nothing") is None
    assert isinstance(asked.search, type(re.compile("").search))
    assert asked.search(string="memory of 1") is not None


def test_a_text_named_by_its_word_is_looked_at_too(late: int) -> None:
    found = asked_first(PATTERN, late).search(string="memory of 24")
    assert found is not None
    assert found[2] == "24"


@pytest.mark.parametrize(
    ("text", "plain", "any_case"),
    [
        ("nothing", False, False),
        ("", False, False),
        ("memory of 24", True, True),
        ("Memory Of 8", False, True),
        ("mem\u0131", False, True),  # a dotless i: what ignores case may take it for one with a dot
    ],
)
def test_a_line_is_asked_for_words_before_an_expression_is(text: str, plain: bool, any_case: bool) -> None:
    assert may_match(regex(PATTERN), text) is plain
    assert may_match(regex(PATTERN, re.IGNORECASE), text) is any_case
    assert may_match(regex(r"\d+"), text)  # of which no words are known


def test_expressions_within_functions_have_words_too() -> None:
    within = set(SCRIPT.within_code())
    known = [each for each in within if words_of(*each)]
    assert len(within) > len(known) > 50
