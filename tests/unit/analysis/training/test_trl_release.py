"""What runs where TRL starts with other settings than transformers: by the release that set-up installs."""

from __future__ import annotations

import json

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
        ("", "trl==1.6.0", "bf16", "on", None),
        ("", "trl==1.7.0", "bf16", "on", "on"),
        ("", "trl==1.*", "bf16", "on", "on"),
        ("", "trl~=1.0", "bf16", "on", "on"),
        ("", "trl~=1.0.1", "bf16", "on", None),
        ("", "trl~=0.15", "bf16", "on", None),
        ("", "trl<=0.21", "bf16", None, None),
        ("", "trl>=0.9,<0.12", None, None, None),
        ("", "trl @ git+https://github.com/huggingface/trl.git@v0.12.0", None, None, None),
        ("", "trl @ git+https://github.com/huggingface/trl.git", "bf16", "on", "on"),
        ("", "trl==0.21.0", "bf16", None, None),
        ("", "trl==0.18.2", None, None, None),
        ("", "trl\ndatasets==3.2.0", "bf16", "on", None),
        ("", "trl\ntorch==2.5.1", "bf16", "on", None),
        ("", "trl\naccelerate<1.0", None, None, None),
        ("args=SFTConfig('o', fp16=True, loss_type='nll'), ", "trl", "fp16", "on", None),
        ("args=SFTConfig('o', bf16=False), ", "trl", None, "on", "on"),
        ("args=SFTConfig('o', fp16=False), ", "trl", "bf16", "on", "on"),
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


@pytest.mark.parametrize(
    ("head", "precision"),
    [
        ('# /// script\n# dependencies = ["trl>=0.9,<0.12", "torch"]\n# ///\n', None),
        ('# /// script\n# dependencies = ["trl>=0.9", "torch"]\n# ///\n', "bf16"),
        ("# needs trl<0.12 or so\n", "bf16"),  # a remark installs nothing
    ],
)
def test_a_script_that_lists_its_own_packages_says_its_release(
    checkout: Build, head: str, precision: str | None
) -> None:
    found = analyze(checkout({"main.py": head + SFT.format(given="")}))
    assert said(found, "training.precision") == precision


def test_a_notebook_s_own_installation_says_its_release(checkout: Build) -> None:
    cells = [["!pip install -q \\\n", "  transformers==4.44.2 \\\n", "  trl==0.9.6"], [SFT.format(given="")]]
    code = [
        {"cell_type": "code", "source": cell, "outputs": [], "metadata": {}, "execution_count": None} for cell in cells
    ]
    notebook = json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert said(analyze(checkout({"tune.ipynb": notebook})), "training.precision") is None


def test_a_list_goes_before_what_a_program_s_remark_says_and_an_extra_counts(checkout: Build) -> None:
    program = "# needs trl>=0.8\n" + SFT.format(given="")
    assert said(analyzed(checkout, program, "trl==0.12.0"), "training.precision") is None
    extra = '[project]\nname = "a"\nversion = "1"\ndependencies = ["torch"]\n[project.optional-dependencies]\ntrain = ["trl==0.12.0"]\n'
    found = analyze(checkout({"main.py": SFT.format(given=""), "pyproject.toml": extra}))
    assert said(found, "training.precision") is None


@pytest.mark.parametrize(("asked", "engine"), [("trl>=1.0", "colocated"), ("trl==0.20.0", "separate")])
def test_trls_command_puts_its_engine_where_its_release_does(checkout: Build, asked: str, engine: str) -> None:
    readme = "```\ntrl grpo --model_name_or_path Qwen/Qwen2.5-7B-Instruct --dataset_name a/b --use_vllm True\n```\n"
    found = analyze(checkout({"README.md": readme, "requirements.txt": f"{asked}\nvllm\n"}))
    assert said(found, "rl.engine") == engine


def test_a_small_model_is_not_trained_on_the_largest_card(checkout: Build) -> None:
    found = analyzed(checkout, SFT.format(given=""), "trl")
    assert found.breakdown is not None
    assert found.breakdown.expected_gib == pytest.approx(13.4, abs=1)
    # Only the newest release never holds all logits, 12 GiB more: what is asked for leaves room for half of them.
    sure = analyzed(checkout, SFT.format(given=""), "trl>=1.7").breakdown
    assert sure is not None
    assert sure.expected_gib == found.breakdown.expected_gib
    assert found.breakdown.high_gib - sure.high_gib == pytest.approx(12.2, abs=0.3)
    assert found.breakdown.required_gib - sure.required_gib == pytest.approx(6, abs=1)


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
