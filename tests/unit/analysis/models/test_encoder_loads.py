"""Adapters of an unknown encoder are not those of a large language model."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("kind", "gib"),
    [
        ("MaskedLM", 12),
        ("TokenClassification", 12),
        ("ImageClassification", 12),
        ("CausalLM", 20),
        ("SequenceClassification", 20),
    ],
)
def test_an_encoder_is_small_whatever_its_name(checkout: Build, kind: str, gib: int) -> None:
    code = f"""
from transformers import AutoModelFor{kind}, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model

model = AutoModelFor{kind}.from_pretrained("somebody/thing")
model = get_peft_model(model, LoraConfig(r=8))
Trainer(model=model, args=TrainingArguments("out")).train()
"""
    assert analyze(checkout({"train.py": code})).spec.hardware.vram_required_gb == gib
