"""Configurations that are programs in name alone: OpenMMLab's and xtuner's, by their file or by their bare name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

RECIPE = (
    "import torch\nfrom datasets import load_dataset\nfrom mmengine.dataset import DefaultSampler\nfrom mmengine.hooks import IterTimerHook\n"
    "from mmengine.optim import AmpOptimWrapper\nfrom peft import LoraConfig\nfrom torch.optim import AdamW\n"
    "from transformers import AutoModelForCausalLM, AutoTokenizer\nfrom xtuner.dataset import process_hf_dataset\n"
    "from xtuner.engine.runner import TrainLoop\nfrom xtuner.model import SupervisedFinetune\n"
    "pretrained_model_name_or_path = 'internlm/internlm2-7b'\nmax_length = 2048\nbatch_size = 1\n"
    "model = dict(type=SupervisedFinetune, llm=dict(type=AutoModelForCausalLM.from_pretrained,\n"
    "    pretrained_model_name_or_path=pretrained_model_name_or_path), lora=dict(type=LoraConfig, r=64))\n"
)


def model_and_method(checkout: Checkout) -> tuple[str, str]:
    found = {f.field: f.value for f in reversed(analyze(checkout).findings)}
    return found.get("model.id", ""), found.get("training.method", "")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("xtuner train config.py", "config.py"),
        ("xtuner train internlm2_7b_lora_e3 --deepspeed deepspeed_zero2", "recipes/internlm2_7b_lora_e3.py"),
    ],
)
def test_recipe_that_imports_much_and_defines_nothing_configures_the_run(
    checkout: Build, command: str, path: str
) -> None:
    tree = checkout({"README.md": f"```\n{command}\n```\n", path: RECIPE})
    assert model_and_method(tree) == ("internlm/internlm2-7b", "lora")


def test_program_that_defines_something_configures_none(checkout: Build) -> None:
    program = RECIPE + "def main():\n    print(model)\n"
    tree = checkout({"README.md": "```\nxtuner train config.py\n```\n", "config.py": program})
    assert model_and_method(tree)[1] == "full"
