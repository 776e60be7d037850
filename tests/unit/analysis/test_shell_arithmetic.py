"""Sums that a shell works out between double parentheses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.shell_arithmetic import computed

KNOWN = {"prompt": "1024", "answer": "2048", "text": "a b", "deep": "$((1+1))"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--max_pixels $((1280 * 28 * 28)) --x 1", "--max_pixels 1003520 --x 1"),
        ("$(((prompt + answer) * 3))", "9216"),
        ("$((answer * (prompt - 1024)))", "0"),
        ("$(($prompt / 3)) $((-prompt))", "341 -1024"),
        ("$((nobody * 2))", "$((nobody * 2))"),
        ("$((text + 1))", "$((text + 1))"),
        ("$((1 / 0))", "$((1 / 0))"),
        ("$((10 ** 10))", "$((10 ** 10))"),
        ("$((9999999999 * 9999999999))", "$((9999999999 * 9999999999))"),
        ("no sum", "no sum"),
    ],
)
def test_known_whole_numbers_are_worked_out(text: str, expected: str) -> None:
    assert computed(text, KNOWN) == expected


@given(st.text(alphabet="$()+-*/ 0123456789abprompt\n;", max_size=300))
def test_any_text_comes_back(text: str) -> None:
    assert isinstance(computed(text, KNOWN), str)
