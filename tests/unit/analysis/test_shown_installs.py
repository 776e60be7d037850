"""Install commands as documents show them, and schedulers' orders by task."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.dependencies.install_commands import read_install_commands
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nimport foopkg\nif __name__ == '__main__':\n    loss.cuda().backward()\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("> pip install foo-pkg==1.2\n", True),
        ("> ```\n> pip install foo-pkg==1.2\n> ```\n", True),
        ("pip install foo-pkg==1.2\n", True),
        ("sudo pip3 install foo-pkg==1.2\n", True),
        ("uv pip install foo-pkg==1.2\n", True),
        ("pip install the packages of foo-pkg==1.2 first\n", False),
        ("Never pip install foo-pkg==1.2 here\n", False),
    ],
)
def test_an_install_command_is_read_however_it_is_shown(checkout: Build, text: str, is_read: bool) -> None:
    readme = f"# N\n## Installation\n{text}\n## Train\n```\npython train.py\n```\n"
    found = [f.value for f in detect_all(checkout({"train.py": TRAIN, "README.md": readme}))]
    assert ("foo-pkg==1.2" in found) is is_read


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("pip install foo-pkg; mkdir -p data; pushd data", ["foo-pkg"]),
        ("pip install foo-pkg ; wget example.org/a.zip", ["foo-pkg"]),
        ("ARCHS='90;100' pip install foo-pkg", ["foo-pkg"]),
        ("pip install 'foo-pkg>=1; python_version >= \"3.8\"'", ["foo-pkg>=1; python_version >= '3.8'"]),
        ("pip install 'foo-pkg>=1;sys_platform==\"linux\"' bar-pkg", ["foo-pkg>=1;sys_platform=='linux'", "bar-pkg"]),
        ("pip install \"foo-pkg; (platform_system != 'Darwin')\"", ["foo-pkg; (platform_system != 'Darwin')"]),
    ],
)
def test_a_semicolon_ends_an_install_command_where_another_begins(
    checkout: Build, command: str, read: list[str]
) -> None:
    tree = checkout({"setup.sh": f"{command}\n"})
    found = [d.requirement for c in read_install_commands(tree.sources[0]) for d in c.declared]
    assert [text.replace('"', "'") for text in found] == read


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("#SBATCH --ntasks=8\n#SBATCH --gpus-per-task=1\n", "8"),
        ("#SBATCH -n 8\n#SBATCH --nodes=2\n#SBATCH --gpus-per-task=1\n", "4"),
        ("#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=1\n", "4"),
        ("#$ -l gpu=4\n", "4"),
        ("#OAR -l gpu=2,walltime=1\n", "2"),
    ],
)
def test_cards_that_a_scheduler_gives_by_task_or_by_resource(checkout: Build, head: str, count: str) -> None:
    tree = checkout({"train.py": TRAIN, "run.sh": f"#!/bin/bash\n{head}srun python train.py\n"})
    assert [f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"] == [count]
