from __future__ import annotations

from typing import Any

import pytest

from gpu_lol_action.domain.snapshot import with_values
from gpu_lol_action.domain.spec_edit import replace_lines
from gpu_lol_action.domain.spec_patch import patch_spec
from gpu_lol_action.domain.spec_yaml import parse_spec

TEXT = """\
# ours
hardware:
  gpu_type: RTX4090   # cheap
  gpu_count: 1

dependencies:
  # what training needs
  requirements:
    - peft>=0.11   # adapters
    # and its parent
    - transformers
  setup_commands:
    - |
      echo one
      echo two

# the end
"""


def test_lists_and_values_change_where_they_stand() -> None:
    values = {
        "hardware.gpu_type": "A100-80GB",
        "dependencies.requirements": ("peft==0.12.0", "transformers", "wandb==1.0"),
        "dependencies.system_packages": ("tmux",),
        "meta.created_from": "snapshot",
    }
    assert (
        patch_spec(TEXT, values)
        == """\
# ours
hardware:
  gpu_type: A100-80GB   # cheap
  gpu_count: 1

dependencies:
  # what training needs
  requirements:
    - peft==0.12.0
    # and its parent
    - transformers
    - wandb==1.0
  setup_commands:
    - |
      echo one
      echo two
  system_packages:
  - tmux

# the end
meta:
  created_from: snapshot
"""
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("dependencies: {requirements: [peft]}\n", {"dependencies.requirements": ("peft", "x==1")}),
        ("dependencies:\n  requirements: [peft]\n", {"dependencies.requirements": ("peft", "x==1")}),
        ("dependencies:\n", {"dependencies.requirements": ("x==1",)}),
        ("hardware:\n  gpu_type: !!str RTX4090\n  gpu_cuont: 1\n", {"hardware.gpu_count": 2}),
        (
            "dependencies:\n  requirements:\n  - a\nprofiles:\n  eval:\n    dependencies:\n      requirements:\n      - a\n",
            {"dependencies.requirements": ("b==1",)},
        ),
    ],
)
def test_other_forms_are_left_to_the_writer(text: str, values: dict[str, Any]) -> None:
    assert patch_spec(text, values) is None


@pytest.mark.parametrize(
    "after",
    [("a",), ("x", "b"), ("b", "c"), ("n", "a", "b", "c"), ("a", "n", "b", "c"), ("c",), ("a", "b", "c", "n", "m")],
)
def test_any_other_list_is_what_is_read_back(after: tuple[str, ...]) -> None:
    text = "dependencies:\n  requirements:\n  - a\n  - b  # two\n  - c\nkeep:\n- runs\n"
    patched = patch_spec(text, {"dependencies.requirements": after})
    assert patched is not None
    assert parse_spec(patched) == with_values(parse_spec(text), {"dependencies.requirements": after})
    assert ("# two" in patched) is ("b" in after)


@pytest.mark.parametrize(
    "value", ["x @ https://example.org/x.whl", "x==1; python_version > '3.8'", "@x", "- y", "yes", "a: b", "#c"]
)
def test_what_yaml_would_read_otherwise_is_quoted(value: str) -> None:
    text = "dependencies:\n  requirements:\n  - a\n"
    patched = patch_spec(text, {"dependencies.requirements": ("a", value)})
    assert patched is not None
    assert parse_spec(patched).dependencies.requirements == ("a", value)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\n", "a\nb\nc\n", (2, 2, ("b", "c"))),
        ("a\nb\nc\n", "a\nb\nx\nc\n", (3, 3, ("x", "c"))),
        ("a\nb\nc\n", "a\nc\n", (2, 3, ("c",))),
        ("a\nb\nc\n", "a\nx\nc\n", (2, 2, ("x",))),
        ("a\n", "x\ny\n", (1, 1, ("x", "y"))),
    ],
)
def test_lines_that_differ_are_found(before: str, after: str, lines: tuple[int, int, tuple[str, ...]]) -> None:
    edit = replace_lines(before, after)
    assert edit is not None
    assert (edit.first_line, edit.last_line, edit.lines) == lines
    old = before.splitlines()
    assert [*old[: edit.first_line - 1], *edit.lines, *old[edit.last_line :]] == after.splitlines()


def test_the_same_text_is_no_edit() -> None:
    assert replace_lines("a\n", "a\n") is None
