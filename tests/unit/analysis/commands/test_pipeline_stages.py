"""What the stages of DVC and MLflow start."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nloss.backward()\noptimizer.step()\n"


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("dvc.yaml", "stages:\n  train:\n    cmd: python src/train.py --lr ${lr}\n    deps:\n    - a\n", {"lr": "$lr"}),
        ("dvc.yaml", "stages:\n  train:\n    wdir: src\n    cmd: python train.py --lr 1\n", {"lr": "1"}),
        ("dvc.yaml", "stages:\n  train:\n    cmd:\n    - python src/train.py --lr 1\n    deps: []\n", {"lr": "1"}),
        (
            "dvc.yaml",
            "stages:\n  train:\n    cmd: >-\n      python src/train.py\n      --lr 1\n    deps: []\n",
            {"lr": "1"},
        ),
        ("dvc.yaml", "stages:\n  train:\n    cmd: |\n      echo x\n      python src/train.py --lr 1\n", {"lr": "1"}),
        ("MLproject", 'name: n\nentry_points:\n  main:\n    command: "python src/train.py --lr {lr}"\n', {"lr": "$lr"}),
        ("other.yaml", "stages:\n  train:\n    cmd: python src/train.py\n", None),
    ],
)
def test_a_stage_starts_its_command(checkout: Build, name: str, text: str, options: dict[str, str] | None) -> None:
    found = launch_commands(checkout({"src/train.py": TRAIN, name: text}))
    assert [dict(command.options) for command in found] == ([options] if options is not None else [])
