"""A projection that is trained alone though LoRA's own switch is off, and language models without a head of words."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from tests.unit.analysis.conftest import Build

STAGE = (
    "from dataclasses import dataclass\nfrom transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments\n"
    "@dataclass\nclass Arguments(TrainingArguments):\n    lora_enable: bool = False\n    lora_r: int = 64\n    tune_mm_mlp_adapter: bool = False\n"
    "args = HfArgumentParser(Arguments).parse_args_into_dataclasses()[0]\n"
    "Trainer(AutoModelForCausalLM.from_pretrained('lmsys/vicuna-7b-v1.5'), args).train()\n"
)


def found(checkout: Build, files: dict[str, str]) -> dict[str, str]:
    said: dict[str, str] = {}
    for finding in detect_all(checkout(files)):
        said.setdefault(finding.field, finding.value)
    return said


@pytest.mark.parametrize(
    ("options", "method"),
    [("--tune_mm_mlp_adapter True", "lora"), ("", "full"), ("--lora_enable True", "lora")],
)
def test_a_projection_is_trained_alone_whatever_lora_s_switch_starts_with(
    checkout: Build, options: str, method: str
) -> None:
    files = {"README.md": f"```\ndeepspeed train.py {options}\n```\n", "train.py": STAGE}
    assert found(checkout, files)["training.method"] == method


LOADED = (
    "import torch\nfrom transformers import {0}\nnet = {0}.from_pretrained('gpt2').cuda()\nnet(x)[0].sum().backward()\n"
)


@pytest.mark.parametrize(
    ("kind", "head"), [("GPT2Model", "small"), ("GPT2LMHeadModel", None), ("AutoModelForCausalLM", None)]
)
def test_the_layers_alone_have_no_logits_over_words(checkout: Build, kind: str, head: str | None) -> None:
    assert found(checkout, {"train.py": LOADED.format(kind)}).get("training.head") == head
