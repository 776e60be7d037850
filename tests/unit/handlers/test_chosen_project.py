"""Which of several projects a pull request is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.chosen_project import fetch_project, narrowed
from tests.unit.handlers.conftest import Bench

SEVERAL = Policy(project_folders=("a", "b", "c"))


def chosen(bench: Bench, changed: Iterable[str], pull: PullRequest, policy: Policy = SEVERAL) -> tuple[str, ...]:
    """Return the projects that are left, by both ways to it: a tree that was read, and one that is asked for."""
    bench.forge.changed = set(changed)
    left = narrowed(bench.context, pull, policy, read_checkout(bench.forge.folder)).project_folders
    again, checkout = fetch_project(bench.context, pull, policy)
    assert again.project_folders == left
    is_there = any(path.startswith(f"{again.project_folder}/") for path in checkout.by_path)
    assert checkout.project == (again.project_folder if is_there else "")
    return left


def written(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "number", "folder"),
    [
        ({"b/train.py", "README.md"}, 7, "b"),
        ({"b/train.py", "a/train.py"}, 7, "a"),  # the order of the policy decides, not that of the names
        ({"c/x.py"}, 7, "c"),
        ({"other/train.py", "ab/train.py"}, 7, "a"),
        (set(), 7, "a"),
        ({"b/train.py"}, 0, "a"),  # a terminal, or a schedule
    ],
)
def test_a_pull_request_is_about_the_first_project_that_it_changes(
    bench: Bench, changed: set[str], number: int, folder: str
) -> None:
    assert chosen(bench, changed, replace(bench.forge.pull, number=number)) == (folder,)


def test_one_project_is_that_one_whatever_is_changed(bench: Bench) -> None:
    one = Policy(project_folders=("b",))
    assert chosen(bench, {"a/train.py"}, bench.forge.pull, one) == ("b",)
    assert narrowed(bench.context, bench.forge.pull, one, read_checkout(bench.forge.folder)) is one


def test_where_it_is_not_told_what_changed_the_first_project_is_meant(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: str) -> frozenset[str]:
        raise TransientError("github_unavailable", "GitHub is away")

    monkeypatch.setattr(bench.forge, "changed_paths", refuse)
    assert chosen(bench, (), bench.forge.pull) == ("a",)


@pytest.mark.parametrize(
    ("changed", "folder"),
    [
        ({"libs/core/src/acme_core/models.py"}, "b"),
        ({"libs/core/pyproject.toml"}, "b"),
        ({"src/diffusers/pipelines/flux.py"}, "c"),  # of a library that is known by its name
        ({"libs/other.py", "docs/index.md"}, "a"),
        ({"libs/core/src/acme_core/models.py", "c/train.py"}, "c"),
    ],
)
def test_else_about_the_first_that_is_built_on_what_it_changes(bench: Bench, changed: set[str], folder: str) -> None:
    files = {
        "a/train.py": "import torch\n",
        "b/train.py": "import torch\nfrom acme_core import models\n",
        "c/train.py": "import torch\nimport diffusers\n",
        "libs/core/pyproject.toml": '[project]\nname = "acme-core"\n',
        "libs/core/src/acme_core/models.py": "",
        "libs/other.py": "",
        "setup.py": "from setuptools import setup\nsetup(name='diffusers')\n",
        "src/diffusers/__init__.py": "",
        "src/diffusers/pipelines/flux.py": "",
        "docs/index.md": "# Acme\n",
    }
    written(bench.forge.folder, files)
    assert chosen(bench, changed, bench.forge.pull) == (folder,)
