"""Environments of copied projects and of examples, far below a root that lists packages, do not choose the Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.dependencies.python_version import chosen_python
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
ENVIRONMENT = "name: old\ndependencies:\n  - python=3.8.5\n  - pip:\n    - numpy\n"
PROJECT = '[project]\nname = "net"\nrequires-python = ">=3.8"\n'


@pytest.mark.parametrize(
    ("files", "python"),
    [
        ({"environment.yml": ENVIRONMENT}, "3.8"),
        ({"pyproject.toml": PROJECT, "env/environment.yml": ENVIRONMENT}, "3.8"),
        ({"pyproject.toml": PROJECT, "tools/copied/environment.yml": ENVIRONMENT}, "3.11"),
        ({"requirements.txt": "torch\n", "tools/copied/environment.yml": ENVIRONMENT}, "3.11"),
        ({"tools/copied/environment.yml": ENVIRONMENT}, "3.8"),
    ],
)
def test_an_environment_far_below(checkout: Build, files: Mapping[str, str], python: str) -> None:
    assert chosen_python(checkout({"train.py": "import torch\n", **files})) == python
