"""Branches that a run's options switch off say nothing of it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.programs import dead_branches
from gpu_lol_action.analysis.programs.dead_branches import dead_lines, decided
from tests.unit.analysis.conftest import Build

VALUES = {"int8": "False", "bf16": "True", "model_card": "medium", "ckpt": "None", "rank": "8"}
INT8 = """
from dataclasses import dataclass, field
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
@dataclass
class Ours:
    use_int8: bool = field(default=False)
ours, args = HfArgumentParser((Ours, TrainingArguments)).parse_args_into_dataclasses()
if ours.use_int8:
    print("small")
    model = AutoModelForCausalLM.from_pretrained(
        "meta-llama/Llama-2-7b-hf",
        load_in_8bit=True,
    )
else:
    model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
Trainer(model=model, args=args).train()
"""
CARDS = """
import argparse
import torch
from gpt import GPTConfig, GPT
parser = argparse.ArgumentParser()
parser.add_argument("--model_card", default="small", choices=["small", "medium"])
args = parser.parse_args()
if args.model_card == "small":
    config = GPTConfig(n_layer=12, n_embd=768, vocab_size=50257)
elif args.model_card == "medium":
    config = GPTConfig(n_layer=24, n_embd=1024, vocab_size=50257)
model = GPT(config).cuda()
torch.optim.AdamW(model.parameters())
model(x).backward()
"""


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("args.int8", False),
        ("not args.int8", True),
        ("args.int8 and anything(1)", False),
        ("args.bf16 and anything(1)", None),
        ("args.bf16 or anything", True),
        ("args.int8 or other", None),
        ("cfg.model.model_card == 'small'", False),
        ('args.model_card in ["small", "medium"]', True),
        ("args.model_card not in ('small', 'large')", True),
        ("args.ckpt is not None", False),
        ("args.ckpt is None", True),
        ("args.rank > 0", None),
        ("unheard_of", None),
    ],
)
def test_a_condition_of_options_alone_is_decided(condition: str, holds: bool | None) -> None:
    assert decided(condition, VALUES) is holds


def test_the_branches_behind_a_taken_one_are_not_reached(checkout: Build) -> None:
    text = (
        "if bf16:\n    a = 1\nelif x:\n    b = 2\n\nelse:\n    c = (\n3\n)\nfor i in y:\n    d = 4\nelse:\n    e = 5\n"
    )
    source = checkout({"a.py": text}).sources[0]
    dead = {line for block in dead_lines(source, VALUES) for line in block}
    assert {4, 7} <= dead
    assert not dead & {1, 2, 3, 11, 12, 13}


def test_a_condition_on_lines_of_its_own_is_one(checkout: Build) -> None:
    long = "if (\n    int8\n    and shape[0] > 4\n):\n    a = 1\nelif (\n    bf16\n    or other\n):\n    b = 2\nelse:\n    c = 3\nd = 4\n"
    source = checkout({"a.py": long}).sources[0]
    dead = {line for block in dead_lines(source, VALUES) for line in block}
    assert {5, 12} <= dead
    assert not dead & {10, 13}


@pytest.mark.parametrize(("command", "bits"), [("", None), (" --use_int8 True", "8")])
def test_weights_that_only_an_option_quantizes(checkout: Build, command: str, bits: str | None) -> None:
    tree = checkout({"train.py": INT8, "README.md": f"```\npython train.py --bf16{command}\n```\n"})
    assert value_of_best(analyze(tree).findings, "model.weight_bits") == bits


@pytest.mark.parametrize(("command", "layers"), [("", "12"), (" --model_card medium", "24")])
def test_the_shape_of_the_branch_that_the_command_takes(checkout: Build, command: str, layers: str) -> None:
    tree = checkout({"train.py": CARDS, "README.md": f"```\npython train.py{command}\n```\n"})
    assert value_of_best(analyze(tree).findings, "model.layers") == layers


def test_a_programs_branches_are_found_once_for_all_runs(checkout: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = checkout({"train.py": CARDS}).sources
    first = dead_lines(source, VALUES)
    monkeypatch.setattr(dead_branches, "_CONDITION", None)  # asked again, it would fail
    assert first == dead_lines(source, VALUES) != dead_lines(source, {"model_card": "small"})
