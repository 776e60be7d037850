"""Where several projects lie side by side, an answer says which one it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.located import read_in_folder
from gpu_lol_action.render.telling import is_assumption

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nmodel.cuda()\nloss.backward()\nif __name__ == '__main__': pass\n"


def projects(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        found |= {f"{name}/train.py": TRAIN, f"{name}/requirements.txt": "torch\n"}
    return found


def told(tree: Checkout) -> list[str]:
    return [gap for gap in analyze(tree).not_understood if "side by side" in gap]


def test_of_several_projects_the_taken_one_is_told_with_the_others(checkout: Build) -> None:
    (gap,) = told(checkout(projects("speech", "vision")))
    assert gap == (
        "of 2 projects side by side `speech` was taken, the other is `vision`: "
        "`analysis.folders` in `.github/gpu-lol.yml` names those that count"
    )
    assert is_assumption(gap)


def test_of_many_the_first_are_named(checkout: Build) -> None:
    (gap,) = told(checkout(projects(*(f"p{n}" for n in range(7)))))
    assert gap.startswith(
        "of 7 projects side by side `p0` was taken, the others are `p1`, `p2`, `p3`, `p4` and 2 more: "
    )


@pytest.mark.parametrize(
    "files",
    [
        {**projects("speech", "vision"), "requirements.txt": "torch\n"},  # one project in parts
        {**projects("speech", "vision"), "pyproject.toml": '[project]\nname="all"\ndependencies=["torch"]\n'},
        projects("speech"),
        {**projects("speech"), "vision/train.py": TRAIN},
        {**projects("speech"), "libs/requirements.txt": "torch\n"},  # nothing is started there
        {**projects("speech"), **projects("examples")},
    ],
)
def test_one_project_is_just_that(checkout: Build, files: dict[str, str]) -> None:
    assert told(checkout(files)) == []


def test_one_that_is_named_is_not_one_of_several(tmp_path: Path) -> None:
    for path, text in projects("speech", "vision").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert told(read_in_folder(tmp_path, "vision")) == []
