"""Launch scripts that a README's sentences name under headings on training."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nloss.backward()\noptimizer.step()\n"
SHOWN = "```python\nimport torch\nfrom diffusers import DiffusionPipeline\npipe = DiffusionPipeline.from_pretrained('a/b').to('cuda')\npipe('x')\n```\n"


@pytest.mark.parametrize(
    "readme",
    [
        "# Model training and sampling\n\nExamples are in [scripts/launch.sh](scripts/launch.sh).\n",
        "## Training\n### Stage 1\nSee [it](./scripts/launch.sh) for all options.\n",
        "# Fine-tuning\nStart `scripts/launch.sh` on your machine.\n",
        "# How to train\n[Here](https://github.com/a/b/blob/main/scripts/launch.sh) it is.\n",
    ],
)
def test_a_script_that_a_section_on_training_names_is_documented(checkout: Build, readme: str) -> None:
    files = {"train.py": TRAIN, "scripts/launch.sh": "mpiexec -n 8 python train.py --lr 1e-4\n"}
    run = primary_run(checkout({**files, "README.md": f"# Net\n{readme}# Use in diffusers\n{SHOWN}"}))
    assert run is not None
    assert run.command is not None
    assert (run.command.said.path, run.command.processes) == ("README.md", 8)


@pytest.mark.parametrize(
    "readme",
    [
        "# Inference\nSee [scripts/launch.sh](scripts/launch.sh).\n",
        "# Training\n## Data\nThe lists are made as in [scripts/launch.sh](scripts/launch.sh).\n",
        "# Training\n```\nless scripts/launch.sh\n```\n",
        "# Training\nSee [scripts/launch.sh](https://example.com/scripts/launch.sh).\n",
        "# Training\nSee [scripts/eval_all.sh](scripts/eval_all.sh).\n",
        "# Training\nSee [scripts/other.sh](scripts/other.sh).\n",
    ],
)
def test_what_is_named_elsewhere_or_for_something_else_stays_a_script(checkout: Build, readme: str) -> None:
    script = "mpiexec -n 8 python train.py --lr 1e-4\n"
    files = {"train.py": TRAIN, "scripts/launch.sh": script, "scripts/eval_all.sh": script}
    commands = launch_commands(checkout({**files, "README.md": readme}))
    assert commands
    assert not any(command.is_documented for command in commands)


def test_a_section_that_shows_a_command_means_that_one(checkout: Build) -> None:
    readme = "# Training\n```\ntorchrun --nproc_per_node 2 train.py\n```\nMore are in [all.sh](scripts/all.sh).\n"
    script = "torchrun --nproc_per_node 8 train.py --size large\n"
    commands = launch_commands(checkout({"train.py": TRAIN, "scripts/all.sh": script, "README.md": readme}))
    assert [(c.processes, c.is_documented) for c in commands] == [(2, True), (8, False)]
