"""What a repository shows of its own package goes before trainings that are experiments with it, or that nobody at the root is told of."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

PROJECT = '[build-system]\nrequires=["setuptools"]\n[project]\nname="net"\ndependencies=["torch","transformers"]\n'
README = """# Net
## Use
```python
from net import Packer
packer = Packer()
packer.compress_prompt(prompt, rate=0.5)
```
## How the data and the training of Net were made
See DOCUMENT.md.
"""
PACKAGE = (
    "import torch\nfrom transformers import AutoModelForCausalLM\nclass Packer:\n    def __init__(self, name='gpt2', device='cuda'):\n"
    "        self.model = AutoModelForCausalLM.from_pretrained(name).to(device)\n"
)
TRAINS = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
FILES = {
    "pyproject.toml": PROJECT,
    "README.md": README,
    "DOCUMENT.md": "# More\n```\npython train_net.py --lr 1e-4\n```\n",
    "net/__init__.py": "from net.packer import Packer\n",
    "net/packer.py": PACKAGE,
    "experiments/small/train_net.py": TRAINS,
}


def kind(checkout: Build, files: Mapping[str, str]) -> WorkloadType | None:
    return analyze(checkout(files)).spec.meta.workload_type


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, WorkloadType.INFERENCE),
        ({"README.md": README + "```\npython train_net.py\n```\n"}, WorkloadType.TRAINING),  # told of at the root
        ({"README.md": README.replace("from net import", "from other import")}, WorkloadType.TRAINING),
        ({"README.md": README.replace("compress_prompt", "configure")}, WorkloadType.TRAINING),
        ({"tools/train_net.py": TRAINS, "experiments/small/train_net.py": ""}, WorkloadType.TRAINING),
    ],
)
def test_an_experiment_comes_behind_what_the_readme_shows(
    checkout: Build, change: Mapping[str, str], expected: WorkloadType
) -> None:
    assert kind(checkout, {**FILES, **change}) is expected


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [code]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


USES = notebook("!pip install net\nfrom net.packer import Packer\nimport torch\nPacker().model.generate(x)\n")
LESSON = {
    "pyproject.toml": PROJECT,
    "README.md": "# Net\nListen to it.\n",
    "Inference example.ipynb": USES,
    "net/__init__.py": "",
    "net/packer.py": PACKAGE,
    "net/train_multi.py": TRAINS,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, WorkloadType.INFERENCE),
        ({"README.md": "# Net\n```\npython -m net.train_multi\n```\n"}, WorkloadType.TRAINING),
        ({"Inference example.ipynb": "", "Ablation.ipynb": USES}, WorkloadType.TRAINING),
    ],
)
def test_a_notebook_at_the_root_shows_what_an_installed_project_is_for(
    checkout: Build, change: Mapping[str, str], expected: WorkloadType
) -> None:
    assert kind(checkout, {**LESSON, **change}) is expected


def test_a_notebook_of_what_nobody_installs_is_one_program_of_many(checkout: Build) -> None:
    files = {path: text for path, text in LESSON.items() if path != "pyproject.toml"}
    assert kind(checkout, files) is WorkloadType.TRAINING


GAN = """
import torch
from torch import nn
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Linear(512, 4096)
class {judge}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4096, 4096), nn.Linear(4096, 4096))
if __name__ == "__main__":
    judge = {judge}().cuda()
    judge.load_state_dict(torch.load("net.pt"))
    judge(x)
"""


@pytest.mark.parametrize(("judge", "is_read"), [("ImageDiscriminator", False), ("Critic", False), ("Painter", True)])
def test_who_draws_runs_no_judge_of_pictures(checkout: Build, judge: str, is_read: bool) -> None:
    tree = checkout({"README.md": "# G\n```\npython draw.py\n```\n", "draw.py": GAN.format(judge=judge)})
    found = [f.value for f in analyze(tree).findings if f.field == "media.own_network"]
    assert found == ([judge] if is_read else [])
