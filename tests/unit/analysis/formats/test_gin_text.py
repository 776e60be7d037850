"""What a file of gin-config says, in all that its syntax has, and what of broken or hostile ones is left."""

from __future__ import annotations

import time

import pytest

from gpu_lol_action.analysis.formats.gin_text import read_gin


def said(text: str) -> dict[str, object]:
    return {f"{each.scope}/{each.name}".lstrip("/"): each.value for each in read_gin(text).bindings}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("48", 48),
        ("-1e-4", -1e-4),
        ("1_000", 1000),
        ("'a#b'", "a#b"),
        ('"""two\nlines"""', "two\nlines"),
        ("True", True),
        ("(480, 640)", [480, 640]),
        ("[\n  1,  # one\n  2,\n]", [1, 2]),
        ("{'inputs': 512, 'sides': (1, 2)}", {"inputs": 512, "sides": [1, 2]}),
        ("\\\n    7", 7),
        ("%BATCH", "${batch}"),
        ("(%HIGH, 2)", ["${high}", 2]),
        ("%gin.REQUIRED", None),
    ],
)
def test_a_literal_is_read_as_it_is_written(text: str, value: object) -> None:
    assert said(f"import a.b\ntrain.x = {text}  # why\nOTHER = 2\n") == {"train.x": value, "OTHER": 2}


@pytest.mark.parametrize(
    "text", ["@Adam", "@a/Adam()", "1 + 2", "f(x)", "open('a')", "(1", "[1)", "", "=", "(" * 500 + ")" * 500]
)
def test_what_is_no_literal_has_no_value(text: str) -> None:
    assert "train.x" not in said(f"train.x = {text}\n")


def test_a_block_a_scope_and_includes_are_read() -> None:
    text = "include 'a/b.gin'\neval/train.n = 1\nmodels.Net:\n  wide = 4096\n  deep = 12\nC = 3\n"
    assert said(text) == {"eval/train.n": 1, "models.Net.wide": 4096, "models.Net.deep": 12, "C": 3}
    assert read_gin(text).includes == ("a/b.gin",)


def test_lines_are_counted_through_what_stands_over_several() -> None:
    assert [each.line for each in read_gin("a = [1,\n 2]\n\n# c\nb = 3\n").bindings] == [1, 5]


@pytest.mark.parametrize("piece", ["'''\\", "x = (", "a.b = '", '"""', "%", "[{", "x = 1\n", "\\\n"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    start = time.perf_counter()
    read_gin(piece * (200_000 // len(piece)))
    assert time.perf_counter() - start < 5
