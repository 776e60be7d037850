"""Counts of cards that batches, rates and remarks of a run's configuration tell, and what only looks like one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.gpu_counts.noted_counts import noted_count, remarked_count
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
INFER = "import torch\nif __name__ == '__main__':\n    model.cuda().generate(x)\n"


def shell(text: str) -> str:
    return f"# Use\n```\n{text}\n```\n"


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


def batches(**values: int | str) -> dict[str, str]:
    return {
        "train.py": TRAIN,
        "d.json": json.dumps(values),
        "README.md": shell("deepspeed train.py --deepspeed d.json"),
    }


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}, "8"),
        ({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 4}, "2"),
        # More than a machine has are several machines.
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 2}, "8"),
        # One card, no whole number of them, or more than a cluster that anybody rents.
        ({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 1}, None),
        ({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}, None),
        ({"train_batch_size": 4096, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}, None),
        # What the program fills in tells nothing.
        ({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}, None),
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto"}, None),
        ({"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}, None),
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 0}, None),
    ],
)
def test_deepspeeds_batches_are_a_product(checkout: Build, values: dict[str, int | str], count: str | None) -> None:
    assert counted(checkout(batches(**values))) == count


def test_a_launchers_word_goes_before_its_batches(checkout: Build) -> None:
    files = batches(train_batch_size=64, train_micro_batch_size_per_gpu=4, gradient_accumulation_steps=2)
    assert counted(checkout({**files, "README.md": shell("deepspeed --num_gpus 2 train.py --deepspeed d.json")})) == "2"


def test_batches_of_what_infers_count_nothing(checkout: Build) -> None:
    files = batches(train_batch_size=64, train_micro_batch_size_per_gpu=4, gradient_accumulation_steps=2)
    tree = checkout({**files, "train.py": INFER})
    run = primary_run(tree)
    assert run is not None
    assert noted_count(tree, run) == []


RATE = "auto_scale_lr = dict(enable=False, base_batch_size={base})\n"
LOADER = "train_dataloader = dict(batch_size={each}, num_workers=2)\n"


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (RATE.format(base=16) + LOADER.format(each=2), "8"),
        ("data = dict(samples_per_gpu=4)\n" + RATE.format(base=16), "4"),
        # The batch of a card that is only evaluated on is another.
        ("val_dataloader = dict(batch_size=1)\n" + RATE.format(base=16) + LOADER.format(each=4), "4"),
        ("test_dataloader = dict(batch_size=1)\n" + RATE.format(base=16), None),
        (RATE.format(base=16) + LOADER.format(each=16), None),
        (RATE.format(base=16) + LOADER.format(each=3), None),
        (RATE.format(base=16), None),
        # A rate's measure in other configurations is no batch of this run's.
        ("base_batch_size = 256\nbatch_size = 32\n", None),
        ("optimizer = dict(lr=0.1, base_batch_size=256)\n" + LOADER.format(each=32), None),
    ],
)
def test_a_rate_scaled_by_openmmlab_tells_how_many_it_was_chosen_for(
    checkout: Build, config: str, count: str | None
) -> None:
    tree = checkout(
        {"tools/train.py": TRAIN, "configs/net.py": config, "README.md": shell("python tools/train.py configs/net.py")}
    )
    assert counted(tree) == count


@pytest.mark.parametrize(
    ("remark", "count"),
    [
        ("batch_size: 32  # 8 GPUs", "8"),
        ("# trained on 4 V100", "4"),
        ("# batch of 2 for two GPUs", "2"),
        ("batch_size: 32  # on 1 GPU", "1"),
        ("# at least 2-4 GPUs", "2"),
        ("# Config for 8 nodes, with GBS 128", "8"),
        ("# An example for 2 nodes, each uses 4 GPUs", None),
        ("# config for 1 nodes", None),
        ("# a graph for 8 nodes", None),
        # How work is laid out, what may be, what failed, what was only evaluated.
        ("batch_size: 32  # per GPU, with 1 GPU each", None),
        ("batch_size: 32  # use 4 if 2 GPUs", None),
        ("batch_size: 64  # OOM with 2 GPUs", None),
        ("batch_size: 64  # does not fit on 2 GPUs", None),
        ("# evaluate on 1 GPU", None),
        ("# for debugging: 1 GPU", None),
        ("# 1 or more, e.g. 2 GPUs", None),
        # More than a machine has, and what is no remark.
        ("# 64 GPUs", None),
        ("note: '#2 GPUs'", None),
        ("note: 2 GPUs", None),
        (f"x: 1  # 2 GPUs {'x' * 400}", None),
    ],
)
def test_a_remark_of_the_configuration_counts(checkout: Build, remark: str, count: str | None) -> None:
    tree = checkout(
        {"train.py": TRAIN, "c.yaml": f"lr: 1\n{remark}\n", "README.md": shell("python train.py --config c.yaml")}
    )
    assert counted(tree) == count


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("#   tune run --nnodes 1 --nproc_per_node 4 lora_finetune_distributed --config llama2/7B_lora", "4"),
        ("# accelerate launch --num_processes=2 train.py", "2"),
        ("#   tune run lora_finetune_single_device --config llama2/7B_lora", None),
        ("#   pytest --num_processes_of_tests 4 x", None),
    ],
)
def test_the_command_that_a_recipe_tells_on_top_counts(checkout: Build, told: str, count: str | None) -> None:
    tree = checkout(
        {"7B_lora.yaml": f"{told}\nmodel:\n  _component_: torchtune.models.llama2.lora_llama2_7b\nmax_steps: 9\n"}
    )
    assert counted(tree) == count


def test_a_remark_of_the_launch_script_counts_above_its_command(checkout: Build) -> None:
    script = "#!/bin/bash\n# 4 GPUs\npython train.py\n# 8 GPUs for the large one\n"
    assert counted(checkout({"train.py": TRAIN, "run.sh": script})) == "4"


def test_a_remark_below_the_command_is_on_another(checkout: Build) -> None:
    script = "#!/bin/bash\npython train.py\n# 8 GPUs for the large one\n"
    assert counted(checkout({"train.py": TRAIN, "run.sh": script})) is None


def test_remarks_of_what_infers_count_nothing(checkout: Build) -> None:
    tree = checkout({"run.py": INFER, "run.sh": "# 4 GPUs\npython run.py\n"})
    run = primary_run(tree)
    assert run is not None
    assert remarked_count(tree, run) == []


def test_a_hostile_configuration_is_read(checkout: Build) -> None:
    lines = "\n".join(f"k{number}: 1 {' # ' * 90}" for number in range(3000))
    tree = checkout({"train.py": TRAIN, "c.yaml": lines, "README.md": shell("python train.py --config c.yaml")})
    assert counted(tree) is None


CORES = TRAIN.replace("if __", "flags.DEFINE_integer('num_cores', 8, {!r})\nif __", 1)


@pytest.mark.parametrize(
    ("text", "command", "count"),
    [
        ("Number of TPU cores or number of GPUs.", "python train.py --use_gpu=True", "8"),
        ("Number of TPU cores or number of GPUs.", "python train.py --num_cores=2", "2"),
        ("Number of cores that read the data.", "python train.py", None),
    ],
)
def test_cores_are_cards_where_the_help_says_so(checkout: Build, text: str, command: str, count: str | None) -> None:
    assert counted(checkout({"train.py": CORES.format(text), "README.md": shell(command)})) == count


def test_processes_that_read_pictures_are_no_cards(checkout: Build) -> None:
    config = "input_features:\n  - name: picture\n    preprocessing:\n      num_processes: 6\n"
    tree = checkout({"train.py": TRAIN, "net.yaml": config, "README.md": shell("python train.py --config net.yaml")})
    assert counted(tree) is None
