"""More of the same run never takes a smaller machine, also where no card holds what was read."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

TRAIN = """
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
tokenizer = AutoTokenizer.from_pretrained("{model}", model_max_length=512)
model = AutoModelForCausalLM.from_pretrained("{model}")
{adapters}
args = TrainingArguments("out", bf16=True, per_device_train_batch_size={batch}{more})
Trainer(model=model, args=args).train()
"""
ADAPTERS = "model = get_peft_model(model, LoraConfig(r=16))"
DIVIDED = ', fsdp="full_shard auto_wrap"'
BATCHES = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512)


def trained(checkout: Build, model: str, batch: int, more: str = "", adapters: str = "") -> Analysis:
    program = TRAIN.format(model=model, batch=batch, more=more, adapters=adapters)
    return analyze(checkout({"train.py": program, "requirements.txt": "torch\ntransformers\npeft\n"}))


@pytest.mark.parametrize(
    ("model", "more", "adapters"),
    [
        ("facebook/opt-1.3b", "", ""),
        ("facebook/opt-1.3b", ", gradient_checkpointing=True", ""),
        ("facebook/opt-1.3b", DIVIDED, ""),
        ("facebook/opt-125m", DIVIDED, ""),
        ("openlm-research/open_llama_3b_v2", "", ""),
        ("mistralai/Mistral-7B-v0.1", "", ADAPTERS),
        ("facebook/opt-1.3b", "", ADAPTERS),
        ("Qwen/Qwen2.5-0.5B", DIVIDED, ""),
    ],
)
def test_a_larger_batch_asks_for_no_less(checkout: Build, model: str, more: str, adapters: str) -> None:
    asked = []
    for batch in BATCHES:
        hardware = trained(checkout, model, batch, more, adapters).proposed.hardware
        asked.append((hardware.gpu_count or 0) * (hardware.vram_required_gb or 0))
    assert asked == sorted(asked), dict(zip(BATCHES, asked, strict=True))


def test_cards_are_not_added_for_what_each_of_them_keeps(checkout: Build) -> None:
    # Eight H200 for $37 an hour were proposed for the first, and one A100 for twice its batch.
    for batch in (256, 512):
        found = trained(checkout, "mistralai/Mistral-7B-v0.1", batch, adapters=ADAPTERS)
        assert found.proposed.hardware.gpu_count == 1
        assert any("is assumed against what was read" in gap for gap in found.not_understood)


def test_a_run_that_divides_its_model_keeps_its_cards_where_no_card_holds_its_batch(checkout: Build) -> None:
    assert trained(checkout, "facebook/opt-125m", 512, DIVIDED).proposed.hardware.gpu_count == 2
