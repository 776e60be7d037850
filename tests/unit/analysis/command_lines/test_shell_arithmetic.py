"""Sums that a shell works out between double parentheses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.command_lines.shell_arithmetic import computed, counted

KNOWN = {
    "cards": "0,1,2,3",
    "one": "'7'",
    "names": "a,b",
    "prompt": "1024",
    "answer": "2048",
    "text": "a b",
    "deep": "$((1+1))",
}


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N=$(echo $cards | tr ',' '\\n' | wc -l)", "N=4"),
        ('N=$(echo "${cards}" | tr "," "\\n" | wc -l) x', "N=4 x"),
        ("N=$(echo $cards | awk -F \",\" '{print NF}')", "N=4"),
        ("N=$(echo $one | awk -F ',' '{print NF;}')", "N=1"),
        ("N=$(echo $cards | wc -l)", "N=$(echo $cards | wc -l)"),
        ("N=$(echo $names | tr ',' '\\n' | wc -l)", "N=$(echo $names | tr ',' '\\n' | wc -l)"),
        ("N=$(echo $nobody | awk -F ',' '{print NF}')", "N=$(echo $nobody | awk -F ',' '{print NF}')"),
        ("no echo", "no echo"),
    ],
)
def test_how_many_cards_a_script_shows_is_counted(text: str, expected: str) -> None:
    assert counted(text, KNOWN) == expected
