from __future__ import annotations

import re

import pytest

from gpu_lol_action.render.terminal import render_text
from tests.golden.cases import CASES


@pytest.mark.parametrize("name", sorted(CASES))
def test_text_ends_with_billing_and_shows_no_markup(name: str) -> None:
    text = render_text(CASES[name]())
    billing = text.rstrip("\n").split("\n")[-1]
    assert re.search(r"\.$", billing)
    assert "gpu-lol v1" not in text
    if not name.endswith("_hostile"):
        assert not re.search(r"\*\*|<[a-z/]|\u200b|&#|&[a-z]+;|(?<!\w)/gpu-lol", text)
    for control in ("\x1b", "\x07", "\u202e"):
        assert control not in text


@pytest.mark.parametrize("name", ["proposal_dearer", "ready", "torn_down", "status", "dry_run"])
def test_text_has_every_figure_of_the_comment(name: str) -> None:
    comment = CASES[name]()
    outside_links = re.sub(r"\]\([^)]*\)|<!--.*?-->", "", comment)
    figures = set(re.findall(r"\$?\d+(?:\.\d+)?", outside_links))
    assert figures <= set(re.findall(r"\$?\d+(?:\.\d+)?", render_text(comment)))


def test_columns_line_up() -> None:
    text = render_text("| a | price |\n|---|---:|\n| x | $1.00 |\n| longer | $10.00 |\n\n**Nothing was launched.**")
    assert text == "a        price\nx        $1.00\nlonger  $10.00\n\nNothing was launched.\n"


def test_last_column_wraps_below_itself() -> None:
    text = render_text(f"| | |\n|---|---|\n| why | {'word ' * 20}|\n", width=50)
    lines = text.rstrip().split("\n")
    assert len(lines) > 1
    assert all(len(line) <= 50 for line in lines)
    assert lines[1].startswith("     word")


def test_commands_and_places_suit_the_terminal() -> None:
    assert (
        render_text("Run `/gpu-lol up` for this PR, see `/etc/gpu-lol`.")
        == "Run gpu-lol up for this folder, see /etc/gpu-lol.\n"
    )


def test_link_to_code_is_its_label_and_another_keeps_its_address() -> None:
    text = render_text("[`train.py:8`](https://x.example/a) [run log](https://x.example/b)")
    assert text == "train.py:8 run log (https://x.example/b)\n"
