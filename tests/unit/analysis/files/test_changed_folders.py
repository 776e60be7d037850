"""Folders that are projects of their own, told by what a change touches."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.files.changed_folders import changed_projects
from tests.unit.analysis.conftest import Build

TREE = {
    "requirements.txt": "torch\n",
    "main.py": "import torch\n",
    "examples/a/requirements.txt": "torch\n",
    "examples/a/train.py": "import torch\n",
    "examples/a/README.md": "# A\n",
    "examples/a/tests/test_a.py": "import torch\n",
    "examples/a/deep/inner/net.py": "import torch\n",
    "examples/a/deep/pyproject.toml": '[project]\nname = "deep"\n',
    "examples/b/requirements/gpu.txt": "torch\n",
    "examples/b/src/train.py": "import torch\n",
    "examples/c/.gpu-lol.yaml": "hardware: {gpu_count: 1}\n",
    "examples/c/train.py": "import torch\n",
    "examples/d/train.py": "import torch\n",
    "tools/requirements.txt": "black\n",
    "tools/README.md": "# Tools\n",
    "tests/requirements.txt": "torch\n",
    "tests/gpu.py": "import torch\n",
}


@pytest.mark.parametrize(
    ("changed", "projects"),
    [
        ("main.py requirements.txt", ""),
        ("examples/a/train.py", "examples/a"),
        ("examples/a/requirements.txt", "examples/a"),
        ("examples/a/README.md examples/a/tests/test_a.py", ""),  # neither says what it needs
        ("examples/a/deep/inner/net.py", "examples/a/deep"),  # the nearest
        ("examples/b/src/train.py", "examples/b"),
        ("examples/b/requirements/gpu.txt", "examples/b"),
        ("examples/c/train.py", "examples/c"),
        ("examples/c/.gpu-lol.yaml", "examples/c"),
        ("examples/d/train.py", ""),  # a part of the whole
        ("tools/requirements.txt tests/requirements.txt tests/gpu.py", ""),  # no program, or not what is run
        ("examples/gone/train.py ../out/train.py", ""),
        ("examples/c/train.py examples/a/train.py main.py", "examples/a examples/c"),
    ],
)
def test_the_nearest_folder_with_packages_and_a_program_is_changed(
    checkout: Build, changed: str, projects: str
) -> None:
    assert changed_projects(checkout(TREE), changed.split()) == tuple(projects.split())
