from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.spec_edit import edit_spec
from gpu_lol_action.domain.spec_yaml import parse_spec

SPEC = """\
# ours
hardware:
  gpu_type: RTX4090   # cheap
  gpu_count: 1
  vram_required_gb: 20
meta: {name: lab, workload_type: training}
"""


def test_values_change_in_place_and_all_else_stays() -> None:
    edit = edit_spec(SPEC, {"hardware.vram_required_gb": 46, "hardware.gpu_type": "A100-80GB"})
    assert edit is not None
    assert edit.text == SPEC.replace("RTX4090", "A100-80GB").replace("20", "46")
    assert (edit.first_line, edit.last_line) == (3, 5)
    assert edit.lines == ("  gpu_type: A100-80GB   # cheap", "  gpu_count: 1", "  vram_required_gb: 46")


def test_several_values_of_one_line() -> None:
    text = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 22}\n"
    edit = edit_spec(text, {"hardware.gpu_type": "L4", "hardware.vram_required_gb": 100, "hardware.gpu_count": 2})
    assert edit is not None
    assert edit.text == "hardware: {gpu_type: L4, gpu_count: 2, vram_required_gb: 100}\n"
    assert (edit.first_line, edit.last_line) == (1, 1)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (SPEC, {"hardware.gpu_count": 1}),
        (SPEC, {"hardware.disk_gb": 60}),
        (SPEC, {"hardware": "x"}),
        ("hardware: [\n", {"hardware.gpu_count": 2}),
        ("", {"hardware.gpu_count": 2}),
        ("hardware:\n  gpu_type: |\n    RTX4090\n", {"hardware.gpu_type": "L4"}),
    ],
)
def test_nothing_to_change_or_nothing_that_can_be(text: str, changes: dict[str, str | int]) -> None:
    assert edit_spec(text, changes) is None


@given(st.sampled_from(["yes", "12", "no", "null", "a: b", '"', "x # y", "A100-80GB", "1e3", "~"]))
def test_what_is_written_is_read_as_the_text_that_was_meant(word: str) -> None:
    edit = edit_spec(SPEC, {"meta.name": word})
    assert edit is not None
    assert parse_spec(edit.text).meta.name == word
