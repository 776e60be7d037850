from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.stage import parse_outputs
from gpu_lol_action.rehearsal.story import StoryError, change_of, require

SAMPLE = Path(__file__).parents[3] / "examples" / "qwen-lora-sft"


def test_outputs_are_read_as_the_runner_reads_them() -> None:
    text = "plain=1\nmany<<X\nline 1\nother=2\nX\nempty<<Y\nY\n"
    assert parse_outputs(text) == {"plain": "1", "many": "line 1\nother=2", "empty": ""}


def test_an_output_without_its_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="many"):
        parse_outputs("many<<X\nline 1\n")


def test_the_demos_pull_request_is_what_its_patch_says() -> None:
    changed = change_of(SAMPLE)
    assert changed.title == "Train with a longer context"
    assert list(changed.files) == ["configs/sft.yaml"]
    assert b"max_seq_length: 4096" in bytes(changed.files["configs/sft.yaml"])  # type: ignore[arg-type]  # from a file


def test_a_project_without_a_patch_gets_a_note(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    changed = change_of(tmp_path / "project")
    assert list(changed.files) == ["REHEARSAL.md"]
    assert "project" in changed.title


def test_a_claim_that_does_not_hold_ends_the_story() -> None:
    require(True, "this holds")
    with pytest.raises(StoryError, match="the cloud is empty"):
        require(False, "the cloud is empty")


def test_the_display_marks_steps_and_escapes_what_a_stranger_wrote() -> None:
    screen = io.StringIO()
    display = Display(Console(file=screen, width=100))
    with display.step("A step [bold]of ours") as step:
        step.tell("[red]of theirs")
    with pytest.raises(StoryError), display.step("A failing step"):
        raise StoryError("no")
    display.said("bot", "<!-- marker -->\n### 🟢 Ready\n\n<details><summary>more</summary>\n\nhidden\n\n</details>\n")
    shown = screen.getvalue()
    assert "✓  1  A step [bold]of ours" in shown
    assert "✗  2  A failing step" in shown
    assert "Ready" in shown
    assert "▸ more" in shown
    assert "hidden" not in shown
    assert "marker" not in shown
