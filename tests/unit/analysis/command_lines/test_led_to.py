"""A document's command leads to the script, or the description of a job, that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.command_lines.led_to import followed
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TASK = "resources:\n  accelerators: H100:8\nrun: |\n  python train.py --size large\n"


@pytest.mark.parametrize(
    ("words", "lead"),
    [
        ("bash run.sh 8", ("run.sh", ["8"])),
        ("make train", ("make:train", [])),
        ("sky launch -c ours task.yaml", ("task.yaml", [])),
        ("sky jobs launch jobs/task.yml", ("jobs/task.yml", [])),
        ("dstack apply -f train.dstack.yml", ("train.dstack.yml", [])),
        ("kubectl apply -f job.yaml", ("job.yaml", [])),
        ("az ml job create --file job.yml", ("job.yml", [])),
        ("det experiment create const.yaml .", ("const.yaml", [])),
        ("sky down ours", None),
        ("sky launch", None),
        ("kubectl get pods -f job.yaml", None),
        ("cat task.yaml", None),
    ],
)
def test_what_a_command_leads_to(words: str, lead: tuple[str, list[str]] | None) -> None:
    assert followed(words.split()) == lead


def test_a_task_that_a_document_launches_is_what_people_are_told(checkout: Build) -> None:
    files = {
        "README.md": "# Ours\n\n## Train\n\n```sh\nsky launch -c ours tasks/big.yaml\n```\n",
        "tasks/big.yaml": TASK,
        "tasks/a.yaml": TASK.replace("large", "small"),
        "train.py": "import torch\nloss.backward()\n",
    }
    first = launch_commands(checkout(files))[0]
    assert (first.options["size"], first.processes, first.is_documented) == ("large", 8, True)
