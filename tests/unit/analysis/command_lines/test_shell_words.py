from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.command_lines.shell_words import shell_words, without_redirections


@given(st.text("ab= \t\r\n'\"\\#;$\x0b\x85é"))
def test_words_are_those_of_the_standard_library(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        with pytest.raises(ValueError, match="No "):
            shell_words(text)
        return
    assert shell_words(text) == expected


def test_quotes_hold_words_together_and_go() -> None:
    assert shell_words("""python train.py --name='a b' "c d"e '' x#y""") == [
        "python",
        "train.py",
        "--name=a b",
        "c de",
        "",
        "x#y",
    ]


def test_other_blanks_are_signs_as_in_a_shell() -> None:
    assert shell_words("a\x0bb c") == ["a\x0bb", "c"]


@pytest.mark.parametrize("text", ["it's", 'say "hello', "'\""])
def test_a_quote_that_does_not_close_is_a_fault(text: str) -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        shell_words(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("train -c a.yaml < /dev/null > run.log 2>&1", "train -c a.yaml"),
        ("train --verbose > run.log", "train --verbose"),
        ("train 2>errors.txt >> all.log -x", "train -x"),
        # Places to fill in, and bounds of versions.
        ("train <config> --n=<n> a>=1", "train <config> --n=<n> a>=1"),
    ],
)
def test_where_output_goes_is_no_word_of_the_command(text: str, left: str) -> None:
    assert without_redirections(text.split()) == left.split()
