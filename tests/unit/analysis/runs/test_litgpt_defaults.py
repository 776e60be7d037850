"""What LitGPT's commands start with counts where nothing says otherwise."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("options", "batch", "precision", "width"),
    [
        ("", "1", "bf16", "32"),
        ("--train.micro_batch_size 4 --precision bf16-true", "4", "bf16", None),
        ("--precision bf16-true", "1", "bf16", None),
    ],
)
def test_a_fine_tuning_takes_one_sample_at_a_time(
    checkout: Build, options: str, batch: str, precision: str, width: str | None
) -> None:
    tree = checkout({"README.md": f"# Tune\n\n```\nlitgpt finetune_lora microsoft/phi-2 --data JSON {options}\n```\n"})
    found = analyze(tree).findings
    assert value_of_best(found, "training.batch_size") == batch
    assert value_of_best(found, "training.precision") == precision
    assert value_of_best(found, "model.weight_bits") == width


def test_a_pretraining_takes_four(checkout: Build) -> None:
    tree = checkout({"README.md": "# Train\n\n```\nlitgpt pretrain pythia-160m --data TextFiles\n```\n"})
    assert value_of_best(analyze(tree).findings, "training.batch_size") == "4"
