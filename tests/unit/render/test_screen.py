from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.render.screen import (
    PLAIN,
    Column,
    Screen,
    columns_of,
    cut,
    fitting_width,
    pad,
    table,
    to_ascii,
    wrap,
)

WORDS = st.text(alphabet="ab/模é ", max_size=60)


@pytest.mark.parametrize(("columns", "width"), [(20, 60), (60, 60), (100, 100), (300, 120)])
def test_width_stays_where_tables_hold_and_lines_read_well(columns: int, width: int) -> None:
    assert fitting_width(columns) == width


@given(WORDS, st.integers(1, 40), st.booleans())
def test_cut_fits_and_keeps_the_end_that_counts(text: str, width: int, is_left: bool) -> None:
    shown = cut(text, width, is_left=is_left)
    assert columns_of(shown) <= width
    if columns_of(text) <= width:
        assert shown == text
    elif is_left:
        assert text.endswith(shown[1:])
    else:
        assert text.startswith(shown[:-1])


@given(WORDS, st.integers(20, 60))
def test_wrapped_lines_fit_and_lose_no_word(text: str, width: int) -> None:
    lines = wrap(text, width, "- ", "  ")
    assert all(columns_of(line) <= width for line in lines)
    if all(columns_of(word) <= width - 2 for word in text.split()):
        assert " ".join(line[2:] for line in lines).split() == text.split()


def test_wide_letters_take_two_columns() -> None:
    assert columns_of("模型") == 4
    assert pad("模型", 6) == "模型  "
    assert cut("模型训练", 5) == "模型…"


@given(st.text(max_size=40))
def test_ascii_keeps_the_columns(text: str) -> None:
    assert to_ascii(text).isascii()
    assert columns_of(to_ascii(text)) == columns_of(text)


def test_bar_is_of_whole_cells_without_unicode() -> None:
    assert Screen(has_unicode=False).bar(0.5, 10) == "#####     "
    assert Screen(has_unicode=False).bar(0.001, 10) == "#         "
    assert PLAIN.bar(0.55, 10) == "█████▌    "
    assert PLAIN.bar(2, 4) == "████"


def test_columns_shrink_in_their_turn_and_optional_ones_go() -> None:
    rows = [("name", "a long remark", "deep/folder/file.py:1")]
    columns = (Column(), Column(turn=1, least=8, is_optional=True), Column(turn=2, least=10, is_cut_left=True))
    assert table(rows, columns, Screen(60)) == ["  name  a long remark  deep/folder/file.py:1"]
    assert table(rows, columns, Screen(40)) == ["  name  a long r…  deep/folder/file.py:1"]
    assert table(rows, columns, Screen(24)) == ["  name  …older/file.py:1"]


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(20, 60))
def test_table_fits_whatever_its_columns_would_like(rows: list[tuple[str, str, str]], width: int) -> None:
    columns = (Column(turn=3, least=13), Column(turn=1, least=30), Column(turn=2, least=30, is_cut_left=True))
    assert all(columns_of(line) <= width for line in table(rows, columns, Screen(width)))


def test_paint_leaves_blanks_and_plain_screens_alone() -> None:
    color = Screen(has_color=True)
    assert color.paint("x", "bold") == "\x1b[1mx\x1b[0m"
    assert color.paint("  ", "bold") == "  "
    assert PLAIN.paint("x", "bold") == "x"


def test_finish_drops_blanks_at_line_ends() -> None:
    assert PLAIN.finish("a  \nb ") == "a\nb"
    assert Screen(has_unicode=False).finish("1 × A40 …") == "1 x A40 ~"
