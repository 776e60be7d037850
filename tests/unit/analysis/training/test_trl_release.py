"""What runs where TRL starts with other settings than transformers: by the release that set-up installs."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

SFT = """
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer
trainer = SFTTrainer(model="Qwen/Qwen3-0.6B", {given}train_dataset=load_dataset("trl-lib/Capybara", split="train"))
trainer.train()
"""
GRPO = """
from trl import GRPOConfig, GRPOTrainer
args = GRPOConfig(output_dir="out", {given})
GRPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", reward_funcs=len, args=args, train_dataset=data).train()
"""
UNSLOTH = """
from unsloth import FastLanguageModel
from trl import SFTConfig, SFTTrainer
model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Meta-Llama-3.1-8B-bnb-4bit", load_in_4bit=True)
SFTTrainer(model=model, tokenizer=tokenizer, train_dataset=data, args=SFTConfig(per_device_train_batch_size=2)).train()
"""


def analyzed(checkout: Build, program: str, asked: str) -> Analysis:
    return analyze(checkout({"main.py": program, "requirements.txt": f"{asked}\n"}))


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


@pytest.mark.parametrize(
    ("given", "asked", "precision", "checkpointing", "loss"),
    [
        ("", "trl", "bf16", "on", "on"),
        ("", "trl==1.5.0", "bf16", "on", None),
        ("", "trl==0.21.0", "bf16", None, None),
        ("", "trl==0.18.2", None, None, None),
        ("", "trl\ndatasets==3.2.0", "bf16", "on", None),
        ("", "trl\ntorch==2.5.1", "bf16", "on", None),
        ("", "trl\naccelerate<1.0", None, None, None),
        ("args=SFTConfig('o', fp16=True, loss_type='nll'), ", "trl", "fp16", "on", None),
        ("args=SFTConfig('o', bf16=False), ", "trl", None, "on", "on"),
        # What a program takes of an older release keeps that from coming.
        ("args=SFTConfig('o', max_seq_length=512), ", "trl", "bf16", None, None),
        # Other arguments than TRL's have the settings of transformers.
        ("args=TrainingArguments('o'), ", "trl", None, None, None),
    ],
)
def test_settings_are_those_of_the_release_that_is_installed(
    checkout: Build, given: str, asked: str, precision: str | None, checkpointing: str | None, loss: str | None
) -> None:
    found = analyzed(checkout, SFT.format(given=given), asked)
    fields = ("training.precision", "training.gradient_checkpointing", "training.chunked_loss")
    assert [said(found, field) for field in fields] == [precision, checkpointing, loss]


def test_a_small_model_is_not_trained_on_the_largest_card(checkout: Build) -> None:
    found = analyzed(checkout, SFT.format(given=""), "trl")
    assert found.breakdown is not None
    assert found.breakdown.expected_gib == pytest.approx(13.4, abs=1)


@pytest.mark.parametrize(
    ("given", "asked", "engine"),
    [
        ("use_vllm=True, vllm_mode='colocate'", "trl[vllm]==0.18.0", "colocated"),
        ("use_vllm=True", "trl[vllm]", "colocated"),
        ("use_vllm=True", "trl[vllm]==0.29.1", "separate"),
        ("use_vllm=True, max_prompt_length=512", "trl[vllm]", "separate"),
        ("use_vllm=True, vllm_mode='server'", "trl[vllm]", "separate"),
        ("use_vllm=False", "trl[vllm]", None),
        ("", "trl", None),
    ],
)
def test_an_engine_that_a_program_asks_for_lies_where_its_release_puts_it(
    checkout: Build, given: str, asked: str, engine: str | None
) -> None:
    assert said(analyzed(checkout, GRPO.format(given=given), asked), "rl.engine") == engine


def test_a_colocated_engine_has_its_share(checkout: Build) -> None:
    found = analyzed(checkout, GRPO.format(given="use_vllm=True, vllm_gpu_memory_utilization=0.4"), "trl[vllm]")
    assert said(found, "rl.engine_share") == "0.4"
    assert found.breakdown is not None
    assert any(term.name == "engine" for term in found.breakdown.terms)


def test_unsloth_keeps_the_trl_that_it_needs(checkout: Build) -> None:
    # It takes `tokenizer=` for TRL's trainers, and excludes the releases that took it themselves.
    found = analyzed(checkout, UNSLOTH, "unsloth\ntrl")
    assert [each for each in found.spec.dependencies.requirements if each.startswith("trl")] == ["trl"]
    assert said(found, "training.chunked_loss") is None
