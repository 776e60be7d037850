"""What torchtune's own recipes say of the memory where a command names one and no file of it lies in the checkout."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.estimation.model_facts import find_model
from tests.unit.analysis.conftest import Build

QLORA = """model:
  _component_: torchtune.models.gemma2.qlora_gemma2_9b
  lora_rank: 64
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /tmp/gemma-2-9b/
batch_size: 4
dtype: bf16
"""
FULL = """model:
  _component_: torchtune.models.llama3_1.llama3_1_8b
checkpointer:
  _component_: torchtune.training.FullModelHFCheckpointer
  checkpoint_dir: /tmp/Meta-Llama-3.1-8B-Instruct/
optimizer:
  _component_: bitsandbytes.optim.PagedAdamW8bit
optimizer_in_bwd: True
batch_size: 2
enable_activation_checkpointing: True
dtype: bf16
"""


def told(checkout: Build, command: str, **files: str) -> Analysis:
    texts = {f"{name}.yaml": text for name, text in files.items()}
    return analyze(checkout({"run.sh": f"#!/bin/bash\n{command}\n", "requirements.txt": "torchtune\n", **texts}))


def value(found: Analysis, field: str) -> str:
    return next((f.value for f in found.findings if f.field == field), "")


@pytest.mark.parametrize(
    ("command", "model", "method", "least_gib", "most_gib", "cards"),
    [
        # torchtune's README measured 16.2, 7.4 and 18.9 GiB for the first three on a card of 24 GB, and 27.6 for the fourth on each of eight.
        ("lora_finetune_single_device --config llama3_1/8B_lora_single_device", "Llama-3.1-8B", "lora", 15, 21, 1),
        ("lora_finetune_single_device --config llama3_1/8B_qlora_single_device", "Llama-3.1-8B", "qlora", 7, 11, 1),
        ("full_finetune_single_device --config llama3_1/8B_full_single_device", "Llama-3.1-8B", "full", 17, 38, 1),
        (
            "--nproc_per_node 8 lora_finetune_distributed --config llama3_1/70B_lora",
            "Llama-3.1-70B",
            "lora",
            22,
            30,
            8,
        ),
        ("--nproc_per_node 4 full_finetune_distributed --config llama3_1/8B_full", "Llama-3.1-8B", "full", 16, 30, 4),
    ],
)
def test_a_recipe_is_counted_as_its_file_would_be(
    checkout: Build, command: str, model: str, method: str, least_gib: float, most_gib: float, cards: int
) -> None:
    found = told(checkout, f"tune run {command}")
    assert model in value(found, "model.id")
    assert value(found, "training.method") == method
    assert found.breakdown is not None
    assert least_gib <= found.breakdown.expected_gib <= most_gib
    assert found.proposed.hardware.gpu_count == cards


def test_what_a_command_gives_goes_before_its_recipe(checkout: Build) -> None:
    found = told(
        checkout, "tune run r --config gemma/2B_lora batch_size=16 tokenizer.max_seq_len=2048 model.lora_rank=8"
    )
    fields = ("training.batch_size", "training.sequence_length", "training.lora_rank")
    assert [value(found, field) for field in fields] == ["16", "2048", "8"]


def test_where_a_reader_keeps_a_model_is_no_other_model(checkout: Build) -> None:
    found = told(checkout, "tune run r --config llama3_1/8B_lora_single_device checkpointer.checkpoint_dir=./llama")
    assert value(found, "model.id") == "meta-llama/Llama-3.1-8B-Instruct"


def test_another_model_by_the_same_recipe_is_that_one(checkout: Build) -> None:
    found = told(
        checkout,
        "tune run r --config llama3_1/8B_full_single_device model._component_=torchtune.models.llama3_2.llama3_2_1b"
        " checkpointer.checkpoint_dir=/tmp/Llama-3.2-1B-Instruct",
    )
    assert "1B" in value(found, "model.id")


def test_a_recipe_of_another_release_is_taken_for_its_nearest(checkout: Build) -> None:
    found = told(checkout, "tune run full_finetune_single_device --config phi3/mini_full_single_device")
    assert value(found, "model.id") == "microsoft/Phi-3-mini-4k-instruct"
    assert value(found, "training.method") == "full"


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "nobody/9B_lora", "llama3_1/8B_dpo", "", "llama3_1/8B_" + "x" * 300]
)
def test_an_unknown_recipe_is_no_model(checkout: Build, name: str) -> None:
    assert value(told(checkout, f"tune run r --config '{name}'"), "model.id") == ""


def test_a_file_of_the_checkout_goes_before_a_recipe_and_says_its_widths(checkout: Build) -> None:
    for program in ("r", "lora_finetune_single_device"):
        quantized = told(checkout, f"tune run {program} --config own.yaml", own=QLORA)
        assert value(quantized, "training.method") == "qlora"
    whole = told(checkout, "tune run r --config own.yaml", own=FULL)
    assert (value(whole, "training.optimizer"), value(whole, "training.weights")) == ("PagedAdamW8bit", "bf16")
    # 37.4 GiB measured on a card of 48 GB, whose states are not moved out; two A100 were proposed.
    assert whole.breakdown is not None
    assert whole.breakdown.expected_gib < 40
    assert whole.proposed.hardware.gpu_count == 1


def test_every_model_of_a_recipe_is_one_of_a_known_size() -> None:
    rows = table_rows("torchtune_recipes.csv")
    assert len({row["recipe"] for row in rows}) == len(rows)
    assert [row["model"] for row in rows if getattr(find_model(row["model"]), "source", "") != "table"] == []
