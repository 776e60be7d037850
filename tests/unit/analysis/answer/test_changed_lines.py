from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.answer.changed_lines import MOST_LINES, touched_lines


@pytest.mark.parametrize(
    ("old", "new", "touched"),
    [
        ("a\nb\nc", "a\nb\nc", ()),
        ("a\nb\nc", "a\nx\nc", (2,)),
        ("a\nc", "a\nb\nc", (2,)),
        ("a\nb\nc", "a\nc", (2,)),
        ("a\nb\nc", "x\nb\ny", (1, 3)),
        ("", "a\nb", (1, 2)),
        ("a\nb", "a", (1,)),
    ],
)
def test_touched_lines_are_those_of_the_new_text(old: str, new: str, touched: tuple[int, ...]) -> None:
    assert touched_lines(old, new) == touched


def test_a_rewrite_counts_as_touched_as_a_whole() -> None:
    old = "\n".join(["first", *(f"a{n}" for n in range(MOST_LINES)), "last"])
    new = "\n".join(["first", *(f"b{n}" for n in range(9)), "last"])
    assert touched_lines(old, new) == tuple(range(2, 11))


lines = st.lists(st.sampled_from("abc"), max_size=8)


@given(lines, lines)
def test_touched_lines_exist_and_what_is_untouched_is_in_both(old: list[str], new: list[str]) -> None:
    touched = touched_lines("\n".join(old), "\n".join(new))
    count = len("\n".join(new).split("\n"))
    assert all(1 <= number <= count for number in touched)
    if old != new and "\n".join(old) != "\n".join(new):
        assert touched
