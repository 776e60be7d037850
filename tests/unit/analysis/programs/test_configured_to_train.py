"""One program for all works, whose configuration says that it trains; the number of processes that its own option says."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

APP = "import torch\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n    AutoModelForCausalLM.from_pretrained(path).cuda().generate(x)\n"
PROJECT = "[project]\nname = 'ours'\nversion = '1'\n[project.scripts]\nours = 'ours.app:main'\n"
TRAINING = "model:\n  name: a\noptimizer:\n  lr: 1.0e-4\ndataset:\n  path: b\n"


@pytest.mark.parametrize(
    ("words", "config", "behavior"),
    [
        ("x.yaml --nproc-per-node 8", TRAINING, Behavior.TRAINS),
        ("x.yaml", "model:\n  name: a\nprompt: b\n", Behavior.INFERS),
        ("x.yaml --predict yes", TRAINING, Behavior.INFERS),
        ("x.yaml --image a.png", TRAINING, Behavior.INFERS),
        ("generate x.yaml", TRAINING, Behavior.INFERS),
    ],
)
def test_what_the_configuration_says(checkout: Build, words: str, config: str, behavior: Behavior) -> None:
    files = {"README.md": f"```\nours {words}\n```\n", "x.yaml": config, "ours/app.py": APP, "ours/__init__.py": "", "pyproject.toml": PROJECT}  # fmt: skip
    run = primary_run(checkout(files))
    assert run is not None
    assert run.behavior is behavior
    assert (run.command.processes if run.command is not None else None) == (8 if "nproc" in words else None)
