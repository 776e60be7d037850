"""Unsloth's ``fast_inference`` is an engine beside the training, which reads the trainer's own weights."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

PROGRAM = """import argparse
from unsloth import FastLanguageModel
from trl import GRPOConfig, GRPOTrainer, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--room", type=float, default=0.6)
args = parser.parse_args()
ROOM = 0.6
model, tokenizer = FastLanguageModel.from_pretrained(
    model_name="meta-llama/Llama-3.1-8B-Instruct", max_seq_length=1024, load_in_4bit=True{told}
)
model = FastLanguageModel.get_peft_model(model, r=32, target_modules=["q_proj", "v_proj"])
training_args = GRPOConfig(per_device_train_batch_size=1, num_generations=6, max_prompt_length=256, max_completion_length=768{more})
trainer = GRPOTrainer(model=model, processing_class=tokenizer, reward_funcs=[len], args=training_args, train_dataset=data)
trainer.train()
"""
FAST = ", fast_inference=True, gpu_memory_utilization="


def found(checkout: Build, told: str, more: str = "") -> Analysis:
    return analyze(checkout({"train.py": PROGRAM.format(told=told, more=more), "requirements.txt": "unsloth\n"}))


def said(analysis: Analysis, field: str) -> str | None:
    return next((finding.value for finding in analysis.findings if finding.field == field), None)


@pytest.mark.parametrize(
    ("told", "share"),
    [
        (FAST + "0.6", "0.6"),
        (FAST + "ROOM", "0.6"),
        (FAST + "args.room", "0.6"),
        (", fast_inference=True", "0.5"),
    ],
)
@pytest.mark.parametrize("more", ["", ", use_vllm=True"])
def test_its_share_is_read(checkout: Build, told: str, share: str, more: str) -> None:
    analysis = found(checkout, told, more)
    assert (said(analysis, "rl.engine"), said(analysis, "rl.engine_share")) == ("colocated", share)
    assert analysis.spec.hardware.gpu_count == 1


def test_its_weights_lie_there_once(checkout: Build) -> None:
    alone, beside = found(checkout, "").breakdown, found(checkout, FAST + "0.6").breakdown
    assert alone is not None
    assert beside is not None
    weights = next(term.gib for term in beside.terms if term.name == "weights")
    assert any(term.name == "engine" for term in beside.terms)
    assert weights / 0.6 < beside.expected_gib < 16  # Unsloth's notebook runs on a T4


@pytest.mark.parametrize("told", ["", ", fast_inference=False, gpu_memory_utilization=0.6", ", fast_inference=fast()"])
def test_where_none_is_told_there_is_none(checkout: Build, told: str) -> None:
    assert said(found(checkout, told), "rl.engine") is None


def test_a_supervised_training_generates_nothing(checkout: Build) -> None:
    program = PROGRAM.format(told=FAST + "0.6", more="").replace("GRPOTrainer(", "SFTTrainer(")
    assert said(analyze(checkout({"train.py": program})), "rl.engine") is None
