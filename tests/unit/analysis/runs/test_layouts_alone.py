"""A file that only divides a training over cards is for more than a small model."""

from __future__ import annotations

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

ENGINE = (
    '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", '
)
ZERO = '"zero_optimization": {"stage": 3}'


def test_a_layout_alone_is_for_a_large_model(checkout: Build) -> None:
    assert analyze(checkout({"zero3.json": ENGINE + ZERO + "}"})).spec.hardware.vram_required_gb == 40


def test_one_with_a_model_is_that_models(checkout: Build) -> None:
    tree = checkout({"zero3.json": ENGINE + '"model_name": "openai-community/gpt2", ' + ZERO + "}"})
    assert (analyze(tree).spec.hardware.vram_required_gb or 0) < 40
