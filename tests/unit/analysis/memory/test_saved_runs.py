"""Runs that fit a card only with what nothing says: more of anything never asks for a smaller machine."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

PROGRAM = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("TinyLlama/TinyLlama-1.1B-Chat-v1.0")
args = TrainingArguments(per_device_train_batch_size={batch}, bf16=True, max_seq_length=2048, {more})
Trainer(model=model, args=args).train()
"""
README = "# Training\n\n{said}\n\n```\npython train.py\n```\n"


def analyzed(checkout: Build, batch: int, said: str = "", more: str = "") -> Analysis:
    return analyze(
        checkout({"train.py": PROGRAM.format(batch=batch, more=more), "README.md": README.format(said=said)})
    )


def asked_gb(analysis: Analysis) -> int:
    hardware = analysis.proposed.hardware
    assert hardware.vram_required_gb is not None
    return hardware.vram_required_gb * hardware.gpu_count


def is_checkpointing_assumed(analysis: Analysis) -> bool:
    return any(gap.startswith("gradient checkpointing is assumed") for gap in analysis.not_understood)


def test_more_samples_never_ask_for_less(checkout: Build) -> None:
    found = [analyzed(checkout, batch) for batch in (1, 2, 4, 8, 16, 32)]
    assert [is_checkpointing_assumed(each) for each in found][0:6:5] == [False, True]
    asked = [asked_gb(each) for each in found]
    assert asked == sorted(asked)


def test_what_is_asked_for_beside_the_sum_is_told(checkout: Build) -> None:
    found = analyzed(checkout, 16)
    assert is_checkpointing_assumed(found)
    assert found.breakdown is not None
    assert found.breakdown.required_gib == 79
    assert found.breakdown.computed_gib is not None
    assert found.breakdown.computed_gib < 79
    assert any("only with what is assumed" in note for note in found.breakdown.notes)


@pytest.mark.parametrize(
    ("said", "more", "gib"),
    [
        # A card on which it ran is enough, whatever its authors saved.
        ("It was trained on one RTX A6000.", "", 47),
        # Who says that activations are recomputed fits what the sum says.
        ("", "gradient_checkpointing=True, ", 60),
    ],
)
def test_no_more_than_the_large_card_where_something_says_less(checkout: Build, said: str, more: str, gib: int) -> None:
    found = analyzed(checkout, 16, said, more)
    assert found.breakdown is not None
    assert found.breakdown.required_gib <= gib
