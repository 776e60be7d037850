"""A command with blanks stands behind the one that fills them in."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.runs.runs import all_runs, primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nfrom torch.nn.parallel import DistributedDataParallel\nnet = DistributedDataParallel(torch.nn.Linear(2, 2))\nnet(x).sum().backward()\n"
FORM = "torchrun --nproc_per_node=<num_gpus> train.py --model-type <model_type> --output <path/to/output>"
FILLED = "torchrun --nproc_per_node=8 train.py --model-type vit_l --output out"


def readme(*commands: str) -> str:
    return "# Training\n" + "".join(f"```\n{command}\n```\n" for command in commands)


@pytest.mark.parametrize(
    "form",
    [
        FORM,
        FORM.replace("<", "{").replace(">", "}").replace("{path/to/output}", "out"),
        "torchrun --nproc_per_node=2 train.py --model-type [MODEL-TYPE] --output [OUTPUT]",
        "torchrun --nproc_per_node=2 train.py --model-type [MODEL_TYPE] --output out",
    ],
)
def test_the_command_that_fills_in_the_blanks_is_the_run(checkout: Build, form: str) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": readme(form, FILLED)})
    run = primary_run(tree)
    assert run is not None
    assert run.command is not None
    assert run.command.processes == 8
    assert run.options["model_type"] == "vit_l"
    assert len(all_runs(tree)) == 1  # the form is no run of its own


@pytest.mark.parametrize(
    "other",
    [
        "torchrun --nproc_per_node=8 train.py",  # says other things
        FILLED.replace("vit_l", "<model>"),  # has blanks itself
        FILLED.replace("train.py", "other.py"),
        f"{FILLED} --eval",  # a step beside
    ],
)
def test_a_form_that_nothing_fills_in_stays(checkout: Build, other: str) -> None:
    tree = checkout({"train.py": TRAIN, "other.py": TRAIN, "README.md": readme(FORM, other)})
    run = primary_run(tree)
    assert run is not None
    assert run.evidence.line == 3


def test_a_command_without_blanks_is_no_form(checkout: Build) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": readme(FILLED.replace("=8", "=2"), FILLED)})
    run = primary_run(tree)
    assert run is not None
    assert run.command is not None
    assert run.command.processes == 2


@pytest.mark.parametrize("left_out", ["...", "[...]"])
def test_a_command_that_leaves_options_out_stands_behind_one_that_writes_them_down(
    checkout: Build, left_out: str
) -> None:
    form = f"torchrun --nproc_per_node=2 train.py {left_out} --dropout 0.1"
    run = primary_run(checkout({"train.py": TRAIN, "README.md": readme(form, FILLED)}))
    assert run is not None
    assert run.options.get("model_type") == "vit_l"


def test_a_script_whose_words_are_given_is_the_run(checkout: Build) -> None:
    script = 'torchrun --nproc_per_node "$1" train.py --model-type "$2"\n'
    text = "# Net\n## Training on a Single-Machine\n```\n./dist.sh <num_gpus> <model>\n```\nFor example:\n```\n./dist.sh 4 vit_l\n```\n"
    run = primary_run(checkout({"train.py": TRAIN, "dist.sh": script, "README.md": text}))
    assert run is not None
    assert run.command is not None
    assert (run.command.processes, run.options["model_type"]) == (4, "vit_l")
