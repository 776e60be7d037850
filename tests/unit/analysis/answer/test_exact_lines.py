"""Evidence of what stands in a statement over many lines: the line of the option, of the argument, of the package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.finding import Finding

Build = Callable[[Mapping[str, str]], Checkout]
TRAINING = (
    "import argparse, torch\nfrom transformers import AutoModelForCausalLM\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument(\n    '--train_batch_size',\n    help='train_batch_size: per card, of all batch sizes the smallest',\n"
    "    default=16,\n    type=int,\n)\nargs = parser.parse_args()\n"
    "model = AutoModelForCausalLM.from_pretrained(\n    'gpt2',\n    torch_dtype=torch.bfloat16,\n).cuda()\n"
    "model(1).loss.backward()\ntorch.optim.AdamW(model.parameters()).step()\n"
)


def placed(tree: Checkout, field: str, value: str) -> list[str]:
    found: list[Finding] = [f for f in analyze(tree).findings if f.field == field and f.value.startswith(value)]
    return [str(each.evidence) for each in found]


def test_an_option_of_a_command_over_many_lines(checkout: Build) -> None:
    readme = "# Run\n\n```\npython train.py \\\n  --seed 8 \\\n  --train-batch-size 8 \\\n  --lr 1e-4\n```\n"
    assert placed(checkout({"train.py": TRAINING, "README.md": readme}), "training.batch_size", "8") == ["README.md:6"]


def test_a_parser_s_argument_is_where_its_name_is_given_not_where_a_help_speaks_of_it(checkout: Build) -> None:
    assert placed(checkout({"train.py": TRAINING}), "training.batch_size", "16") == ["train.py:5"]


def test_arguments_of_a_call(checkout: Build) -> None:
    tree = checkout({"train.py": TRAINING})
    assert placed(tree, "model.id", "gpt2") == ["train.py:12"]
    assert placed(tree, "training.precision", "bf16") == ["train.py:13"]


def test_of_two_arguments_of_one_name_the_one_with_the_value(checkout: Build) -> None:
    program = TRAINING.replace(
        "model(1)",
        "from transformers import Trainer, TrainingArguments\nTrainer(\n    data=load(\n        per_device_train_batch_size=2),\n"
        "    args=TrainingArguments(per_device_train_batch_size=4,\n        bf16=True),\n)\nmodel(1)",
    )
    assert placed(checkout({"train.py": program}), "training.batch_size", "4") == ["train.py:19"]


def test_a_notebook_s_line_is_that_of_the_file(checkout: Build) -> None:
    lines = [f"{line}\n" for line in TRAINING.split("\n")]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["torch_dtype\n"]},
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines},
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    place = next(number for number, line in enumerate(text.split("\n"), 1) if "torch.bfloat16" in line)
    assert placed(checkout({"train.ipynb": text}), "training.precision", "bf16") == [f"train.ipynb:{place}"]


@pytest.mark.parametrize("name", ["Dockerfile", "README.md"])
def test_packages_of_one_command_and_what_is_said_of_them(checkout: Build, name: str) -> None:
    command = "pip install torch==2.1.2 \\\n    transformers \\\n    scikit_learn==1.3.2\n"
    text = f"FROM python:3.10\nRUN {command}" if name == "Dockerfile" else f"# Install\n```\n{command}```\n"
    tree = checkout({"train.py": TRAINING, name: text})
    first = 2 if name == "Dockerfile" else 3
    assert placed(tree, "dependencies.requirements", "torch==") == [f"{name}:{first}"]
    assert placed(tree, "dependencies.requirements", "scikit") == [f"{name}:{first + 2}"]


def test_a_configuration_s_block(checkout: Build) -> None:
    text = (
        "model:\n  target: ldm.models.diffusion.ddpm.LatentDiffusion\n  params:\n    image_size: 64\n    unet_config:\n"
        "      target: ldm.modules.diffusionmodules.openaimodel.UNetModel\n      params:\n        in_channels: 4\n"
        "        model_channels: 320\n        channel_mult: [1, 2, 4, 4]\n        context_dim: 768\n        use_checkpoint: True\n"
    )
    readme = "```\npython train.py --config config.yaml\n```\n"
    tree = checkout({"train.py": TRAINING, "config.yaml": text, "README.md": readme})
    assert placed(tree, "training.gradient_checkpointing", "on") == ["config.yaml:12"]


def test_a_statement_without_an_end_is_looked_through_for_a_while(checkout: Build) -> None:
    readme = "```\npython train.py \\\n" + "  --seed 1 \\\n" * 400 + "  --train_batch_size 8\n```\n"
    assert placed(checkout({"train.py": TRAINING, "README.md": readme}), "training.batch_size", "8") == ["README.md:2"]


@pytest.mark.parametrize(
    "command",
    [
        "python train.py\n  --seed 8\n  --train_batch_size 8\n",
        "python train.py \\\n  --seed 8 \\  # drawn\n  # per card\n  --train_batch_size 8\n",
    ],
)
def test_options_behind_a_forgotten_backslash_and_behind_remarks(checkout: Build, command: str) -> None:
    readme = f"# Run\n\n```\n{command}```\n"
    line = next(number for number, text in enumerate(readme.split("\n"), 1) if "train_batch" in text)
    found = placed(checkout({"train.py": TRAINING, "README.md": readme}), "training.batch_size", "8")
    assert found == [f"README.md:{line}"]
