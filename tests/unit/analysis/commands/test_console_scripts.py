"""Commands that installing a project gives, also one that lies in a folder beside others."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.console_scripts import console_scripts
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

SETUP = (
    "from setuptools import setup\nsetup(name='{0}', install_requires=['numpy'], entry_points={{'console_scripts': "
    "['{0}-start = net.{0}.cli:main']}})\n"
)
SERVES = "def main():\n    from net.server import Server\n    Server().join()\n"
SERVER = "import torch\nclass Server:\n    def join(self):\n        torch.load('a.pt').cuda().generate()\n"
FILES = {
    "README.md": "# Net\n```\npip install net-server\nserver-start -model_dir /tmp/a -num_worker=4\n```\n",
    "server/setup.py": SETUP.format("server"),
    "server/net/server/__init__.py": SERVER,
    "server/net/server/cli/__init__.py": SERVES,
    "client/setup.py": "from setuptools import setup\nsetup(name='client')\n",
    "examples/tune.py": "import torch\nloss.cuda().backward()\n",
}


def test_a_command_of_an_inner_project_is_what_its_readme_starts(checkout: Build) -> None:
    tree = checkout(FILES)
    assert console_scripts(tree) == {"server-start": "net.server.cli"}
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    assert run.script.path == "server/net/server/cli/__init__.py"
    assert analyze(tree).spec.meta.workload_type is WorkloadType.INFERENCE


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"setup.py": SETUP.format("own")},
            {"own-start": "net.own.cli"},
        ),  # the root's project is the one that is installed
        (
            {"server/setup.py": SETUP.format("server").replace("server-start", "llamafactory-cli")},
            {},
        ),  # a copy of a tool
        ({"server/setup.py": "", "deep/er/setup.py": SETUP.format("server")}, {}),
    ],
)
def test_other_projects_give_no_command(
    checkout: Build, change: Mapping[str, str], expected: Mapping[str, str]
) -> None:
    assert console_scripts(checkout({**FILES, **change})) == expected


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        ("uv run lab-train --lr 1", True),
        ("uv run lab-train", True),
        ("poetry run lab-train --lr 1", True),
        ("CUDA_VISIBLE_DEVICES=0,1 lab-train --lr 1", True),
        ("srun --gres=gpu:1 lab-train --lr 1", True),
        ("uv add lab-train", False),
        ("sudo apt install lab-train", False),
        ("conda create -n lab-train python=3.11", False),
        ("docker build -t lab-train .", False),
    ],
)
def test_runners_start_a_command_of_the_project_like_any_other(checkout: Build, line: str, is_read: bool) -> None:
    project = '[project]\nname = "lab"\n[project.scripts]\nlab-train = "lab.work:main"\n'
    work = "import torch\ndef main():\n    loss.cuda().backward()\n"
    tree = checkout({"README.md": f"# Lab\n```\n{line}\n```\n", "pyproject.toml": project, "lab/work.py": work})
    run = primary_run(tree)
    assert run is not None
    assert (run.command is not None) is is_read


@pytest.mark.parametrize(("verb", "workload"), [("separate", WorkloadType.INFERENCE), ("train", WorkloadType.TRAINING)])
def test_the_verb_of_a_command_says_what_a_program_of_both_does(
    checkout: Build, verb: str, workload: WorkloadType
) -> None:
    project = '[project]\nname = "lab"\ndependencies = ["torch"]\n[project.scripts]\nlab = "lab.work:main"\n'
    work = "import torch\ndef main():\n    loss.cuda().backward()\n"
    tree = checkout({"README.md": f"```\nlab {verb} a.mp3\n```\n", "pyproject.toml": project, "lab/work.py": work})
    assert analyze(tree).spec.meta.workload_type is workload
