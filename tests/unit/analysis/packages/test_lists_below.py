"""Lists that name a project of the checkout itself, and what a recipe needs beyond its library."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

PROJECT = '[project]\nname = "{}"\nversion = "1"\ndependencies = ["pillow"]\n[build-system]\nrequires = ["hatchling"]\n'
PROGRAM = "import torch\nfrom mine_utils import read\nmodel = torch.load('x').cuda()\nmodel.generate(read())\n"
BELOW = {
    "mine-utils/pyproject.toml": PROJECT.format("mine-utils"),
    "mine-utils/src/mine_utils/__init__.py": "def read(): ...\n",
}


def with_command(command: str) -> dict[str, str]:
    return {"README.md": f"```\n{command}\npython demo.py\n```\n", "demo.py": PROGRAM}


def required(tree: Checkout) -> list[str]:
    return [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]


@pytest.mark.parametrize("command", ["pip install mine-utils", "pip install mine-utils[fast]==0.1"])
def test_a_project_further_down_is_installed_by_the_name_that_readers_are_told(checkout: Build, command: str) -> None:
    tree = checkout({**with_command(command), **BELOW})
    assert command.removeprefix("pip install ") in required(tree)


def test_one_that_is_installed_from_its_folder_is_not(checkout: Build) -> None:
    tree = checkout({**with_command("pip install -e ./mine-utils && pip install mine-utils"), **BELOW})
    assert "mine-utils" not in required(tree)
    assert any("./mine-utils" in f.value for f in packages.detect(tree) if f.field == "dependencies.setup_commands")


def test_the_project_itself_is_none_of_its_own(checkout: Build) -> None:
    own = {"pyproject.toml": PROJECT.format("mine-utils"), "mine_utils/__init__.py": "def read(): ...\n"}
    assert "mine-utils" not in required(checkout({**with_command("pip install mine-utils"), **own}))


@pytest.mark.parametrize(
    ("path", "is_needed"),
    [
        ("recipes/speech/extra_requirements.txt", True),
        ("extra_requirements.txt", False),
        ("recipes/extra_requirements.txt", False),
    ],
)
def test_extra_list_beside_the_program_counts(checkout: Build, path: str, is_needed: bool) -> None:
    files = {
        "README.md": "```\npython recipes/speech/train.py\n```\n",
        "recipes/speech/train.py": "import torch\nloss.cuda().backward()\ntorch.optim.Adam(p)\n",
        "requirements.txt": "torch\n",
        path: "sacrebleu\n",
    }
    assert ("sacrebleu" in required(checkout(files))) is is_needed


@pytest.mark.parametrize(
    ("path", "found"),
    [("lesson/requirements.txt", True), ("requirements.txt", False), ("requirements/base.txt", False)],
)
def test_a_lessons_list_speaks_for_that_lesson_alone(checkout: Build, path: str, found: bool) -> None:
    notebook = json.dumps(
        {"cells": [{"cell_type": "code", "source": "from dotenv import load_dotenv\nload_dotenv()\n"}]}
    )
    tree = checkout({path: "anthropic\n", "other/first.ipynb": notebook})
    assert ("python-dotenv" in required(tree)) is found
    assert "anthropic" in required(tree)


@pytest.mark.parametrize(("group", "is_taken"), [("train", True), ("lint", False), ("dev", False)])
def test_uvs_default_groups_for_the_desk_are_no_runs(checkout: Build, group: str, is_taken: bool) -> None:
    text = (
        PROJECT.format("mine") + f'[dependency-groups]\n{group} = ["einops"]\n[tool.uv]\ndefault-groups = ["{group}"]\n'
    )
    assert ("einops" in required(checkout({"pyproject.toml": text, "mine/__init__.py": ""}))) is is_taken


@pytest.mark.parametrize(("extra", "is_taken"), [("vision", True), ("export", False), ("dev", False)])
def test_an_image_that_brings_a_model_to_other_formats_asks_for_more_than_a_run(
    checkout: Build, extra: str, is_taken: bool
) -> None:
    text = PROJECT.format("mine") + f'[project.optional-dependencies]\n{extra} = ["coremltools"]\n'
    files = {
        "pyproject.toml": text,
        "mine/__init__.py": "",
        "Dockerfile": f'FROM python\nRUN pip install -e ".[{extra}]"\n',
    }
    assert ("coremltools" in required(checkout(files))) is is_taken
