"""Commands behind commands: what a submitter is handed, what an echo gives, what a service trains with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = (
    "import argparse\nimport torch\nfrom transformers import AutoModelForCausalLM, Trainer\n"
    "if __name__ == '__main__':\n"
    "    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--model_id', default='google/flan-t5-small')\n"
    "    args = parser.parse_args()\n"
    "    model = AutoModelForCausalLM.from_pretrained(args.model_id).cuda()\n"
    "    Trainer(model).train()\n"
)


def commands(checkout: Build, line: str) -> list[tuple[str, str, int | None, int]]:
    files = {"train.py": TRAIN, "submit.py": "import os\n", "README.md": f"```bash\n{line}\n```\n"}
    return [(c.tool, c.target, c.processes, c.nodes) for c in launch_commands(checkout(files))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "python submit.py --gpus 8 --num_nodes 2 -- accelerate launch --num_processes 4 train.py --lr 1",
            ("accelerate", "train.py", 4, 2),
        ),
        ("python submit.py --gpus=8 -- python train.py --lr 1", ("python", "train.py", 8, 1)),
        (
            r"python submit.py -- source env.sh \&\& torchrun --nproc_per_node 2 train.py",
            ("torchrun", "train.py", 2, 1),
        ),
        ("uv run python submit.py --gpus 4 -- uv run python train.py", ("python", "train.py", 4, 1)),
    ],
)
def test_a_submitter_is_handed_the_command(
    checkout: Build, line: str, expected: tuple[str, str, int | None, int]
) -> None:
    assert commands(checkout, line)[0] == expected


@pytest.mark.parametrize("line", ["python train.py -- --lr 1", "python train.py --", "python train.py -- notes.txt"])
def test_dashes_before_options_hand_nothing_on(checkout: Build, line: str) -> None:
    assert commands(checkout, line)[0][:2] == ("python", "train.py")


@pytest.mark.parametrize(
    "script",
    [
        'CMD="mkdir -p out && torchrun --nproc_per_node 2 train.py --lr 1"\nsrun --jobid 3 bash -c "$CMD" 2>&1 | tee log\n',
        'CMD="mkdir -p out; torchrun --nproc_per_node 2 train.py --lr 1"\n$CMD\n',
        'DATA="rm -rf /s && mkdir /s && "\nCMD="$DATA torchrun --nproc_per_node 2 train.py --lr 1"\nbash -c "$CMD"\n',
        "watch-cache & torchrun --nproc_per_node 2 train.py --lr 1\n",
    ],
)
def test_of_joined_commands_the_one_that_works_counts(checkout: Build, script: str) -> None:
    (found,) = launch_commands(checkout({"train.py": TRAIN, "job.slurm": script}))
    assert (found.tool, found.target, found.processes, found.options["lr"]) == ("torchrun", "train.py", 2, "1")


def test_what_is_sent_behind_is_told_from_what_is_waited_for(checkout: Build) -> None:
    tree = checkout({"run.sh": "vllm serve a/b --port 1 & python train.py --url 'a?b&c' && ls\n", "train.py": TRAIN})
    served, trained = launch_commands(tree)
    assert (served.tool, served.is_background) == ("vllm", True)
    assert (trained.options["url"], trained.is_background) == ("a?b&c", False)


def test_joined_commands_of_which_none_starts_anything_are_none(checkout: Build) -> None:
    assert not launch_commands(checkout({"run.sh": 'CMD="mkdir out && ls out;"\nbash -c "$CMD"\n', "train.py": TRAIN}))


def test_an_echoed_variable_is_the_variable(checkout: Build) -> None:
    script = 'ARGS="--model_id gpt2 --lr 1"\npython train.py $(echo ${ARGS}) --rank 0\n'
    found = launch_commands(checkout({"train.py": TRAIN, "run.sh": script}))[0]
    assert (found.options["model_id"], found.options["rank"]) == ("gpt2", "0")


def notebook(*lines: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [f"{line}\n" for line in lines]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def job(*more: str, instance: str = "ml.g5.2xlarge", program: str = "train.py") -> str:
    return notebook(
        "import sagemaker",
        "from sagemaker.huggingface import HuggingFace",
        "model = 'bigscience/bloomz-7b1'",
        "hyperparameters = {'model_id': model, 'epochs': 3, 'unknown': somewhere}",
        f"estimator = HuggingFace(entry_point='{program}', source_dir='./scripts', instance_type='{instance}',",
        f"    hyperparameters=hyperparameters, {', '.join(more)})",
        "estimator.fit()",
    )


def analyzed(checkout: Build, text: str) -> Analysis:
    files = {"job.ipynb": text, "scripts/train.py": TRAIN, "scripts/requirements.txt": "torch\ntransformers\n"}
    return analyze(checkout(files))


def test_a_training_job_says_what_its_program_is_given_and_on_what_it_runs(checkout: Build) -> None:
    analysis = analyzed(checkout, job())
    values = {f.field: f.value for f in reversed(analysis.findings)}
    assert values["entry_point"] == "python train.py"
    assert values["model.id"] == "bigscience/bloomz-7b1"
    assert values["documented.card"] == "A10G"


@pytest.mark.parametrize(
    ("instance", "count"),
    [("ml.g5.2xlarge", 1), ("ml.g5.12xlarge", 4), ("ml.p3.16xlarge", 8), ("ml.p3.2xlarge", 1), ("ml.p4d.24xlarge", 8)],
)
def test_a_job_that_is_divided_takes_all_cards_of_its_instance(checkout: Build, instance: str, count: int) -> None:
    analysis = analyzed(checkout, job("distribution={'torch_distributed': {'enabled': True}}", instance=instance))
    assert analysis.spec.hardware.gpu_count == count


def test_a_program_that_the_service_fetches_from_elsewhere_trains_as_well(checkout: Build) -> None:
    text = job("distribution=spread", instance="ml.p3.16xlarge", program="run_qa.py")
    analysis = analyze(checkout({"job.ipynb": text, "requirements.txt": "transformers\n"}))
    assert (analysis.spec.meta.workload_type.value, analysis.spec.hardware.gpu_count) == ("training", 8)


@pytest.mark.parametrize(
    "text",
    [
        notebook("import sagemaker", "HuggingFace(entry_point=program, instance_type='ml.g5.2xlarge')"),
        notebook("HuggingFace(entry_point='scripts/train.py')"),  # nothing says whose class this is
        job(program="gone.py"),
    ],
)
def test_what_is_no_job_of_this_checkout_starts_nothing(checkout: Build, text: str) -> None:
    assert not list(launch_commands(checkout({"job.ipynb": text, "scripts/train.py": TRAIN})))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torchx run -s slurm dist.ddp -j 2x8 --script train.py -- --lr 1e-4", [("torchrun", "train.py", 8, 2)]),
        ("torchx run dist.ddp -j=8 --script=train.py --lr 1e-4", [("torchrun", "train.py", 8, 1)]),
        (
            "torchx run --scheduler local_cwd dist.spmd -j 1:4x2 --gpu 2 -m train -- --lr 1",
            [("torchrun", "train", 2, 4)],
        ),
        ("torchx run -s local_cwd dist.ddp --script train.py", [("torchrun", "train.py", None, 1)]),
        # What is no job of several processes, or names no program, is not read as one.
        ("torchx run -s local_cwd utils.sh echo train.py", []),
        ("torchx run -s local_cwd dist.ddp -j 1x8", []),
        ("torchx status slurm://torchx/14731", []),
        ("torchx run --scheduler slurm component.py:train --num_trainers=8 -- --lr 1", []),
    ],
)
def test_a_torchx_job_is_torchrun_on_its_machines(
    checkout: Build, line: str, expected: list[tuple[str, str, int | None, int]]
) -> None:
    assert commands(checkout, line) == expected


def test_what_a_torchx_job_hands_on_is_the_programs(checkout: Build) -> None:
    readme = "```\ntorchx run dist.ddp -j 1x4 --script train.py -- \\\n  --batch_size 64 \\\n  --j 3\n```\n"
    (command,) = launch_commands(checkout({"train.py": TRAIN, "README.md": readme}))
    assert (command.processes, command.options["batch_size"], command.options["j"]) == (4, "64", "3")


SUBMIT = "from azure.ai.ml import MLClient, command\nimport argparse\nif __name__ == '__main__':\n    job = command(code='src', {})\n"
ASK = "import torch\nmodel = torch.load('m.pt')\nif __name__ == '__main__':\n    model.generate('x')\n"


@pytest.mark.parametrize(
    "given",
    [
        'command="torchrun --nproc_per_node=4 train.py --lr 1"',
        'command=(\n        "torchrun --nproc_per_node=4 train.py --lr 1" + more(args))',
    ],
)
def test_what_a_documented_program_hands_to_a_cluster_is_what_the_document_starts(checkout: Build, given: str) -> None:
    files = {
        "README.md": "# Tuning\n```\npython submit.py --compute c\n```\n## Trying\n```\npython ask.py\n```\n",
        "submit.py": SUBMIT.format(given),
        "src/train.py": TRAIN,
        "ask.py": ASK,
    }
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("training", 4)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python -m ours.stool script=apps.net.train config=a.yaml nodes=2 account=x", ("apps.net.train", 8, 2)),
        ("python -m ours.stool script=apps.net.train config=a.yaml nodes=<n> ngpu=4", ("apps.net.train", 4, 1)),
        ("python -m ours.stool config=a.yaml nodes=2", ("ours.stool", None, 1)),
    ],
)
def test_linguas_launcher_fills_machines_of_eight(
    checkout: Build, line: str, expected: tuple[str, int | None, int]
) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": f"```bash\n{line}\n```\n"})
    assert [(c.target, c.processes, c.nodes) for c in launch_commands(tree)] == [expected]
