"""Commands as documents show them: in quotes, on lines of their own, between marks over several lines, as editors change them."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nloss.backward()\noptimizer.step()\n"
COMMAND = "torchrun --nproc_per_node 8 train.py --lr 1e-4"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", f"# N\n> {COMMAND}\n"),
        ("README.md", f"# N\n> ```bash\n> {COMMAND}\n> ```\n"),
        ("README.md", f"# N\nTo train:\n\n{COMMAND}\n"),
        ("README.md", f"# N\n1. $ {COMMAND}\n"),
        ("README.md", f"# N\n**{COMMAND}**\n"),
        ("README.md", f"# N\nRun <code>{COMMAND}</code>.\n"),
        ("README.md", f"# N\n```\n{COMMAND.replace(' ', chr(0xA0))}\n```\n"),
        ("README.md", "# N\n```\ntorchrun \u2013nproc_per_node 8 train.py\n```\n"),
        ("README.md", "# N\n```\ntorchrun ^\n  --nproc_per_node 8 ^\n  train.py\n```\n"),
        ("README.md", "# N\n> torchrun --nproc_per_node 8 \\\n> train.py --lr 1e-4\n"),
        ("README.md", "# N\nRun `torchrun --nproc_per_node 8\ntrain.py --lr 1e-4` there.\n"),
        ("README.rst", f"N\n=\n\nRun ``{COMMAND}`` there.\n"),
        ("README.txt", f"N\n\n{COMMAND}\n"),
        ("README.markdown", f"# N\n```\n{COMMAND}\n```\n"),
        ("README.adoc", f"= N\n----\n{COMMAND}\n----\n"),
        ("job.pbs", f"#!/bin/bash\n{COMMAND}\n"),
        ("job.sub", f"#!/bin/bash\n{COMMAND}\n"),
        ("run.sh", "torchrun --nproc_per_node 8 $ROOT/train.py\n"),
        ("run.sh", "torchrun --nproc_per_node 8 ${HERE}/train.py\n"),
        ("run.sh", "declare -i N=8\ntorchrun --nproc_per_node $N train.py\n"),
    ],
)
def test_a_command_is_read_however_it_is_shown(checkout: Build, name: str, text: str) -> None:
    run = primary_run(checkout({"train.py": TRAIN, name: text}))
    assert run is not None
    assert run.command is not None
    assert (run.command.target.rpartition("/")[2], run.command.processes) == ("train.py", 8)


@pytest.mark.parametrize(
    "text",
    [
        "python train.py will train the network for you.\n",
        "python train.py and python test.py are all there is\n",
        "- python 3.8 and train.py\n",
        "The file `train.py` trains.\n",
        "An odd ` mark before python train.py\n",
        "> A quotation of python train.py for what it is\n",
    ],
)
def test_a_sentence_that_names_a_program_is_no_command(checkout: Build, text: str) -> None:
    assert not launch_commands(checkout({"train.py": TRAIN, "README.md": f"# N\n{text}"}))


def test_what_goes_on_below_a_line_alone_belongs_to_it(checkout: Build) -> None:
    readme = "# N\npython train.py \\\n  --lr 1e-4 \\\n  --epochs 3\nThen wait.\n"
    (command,) = launch_commands(checkout({"train.py": TRAIN, "README.md": readme}))
    assert dict(command.options) == {"lr": "1e-4", "epochs": "3"}
