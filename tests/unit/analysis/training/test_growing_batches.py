"""More of the same run never takes a smaller machine, also where no card holds what was read."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.training.relaxed import AGAINST
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
BATCHES = (1, 2, 3, 6, 8, 12, 24, 32, 40, 56, 64, 80, 100, 128, 150, 200, 256, 300, 400, 512, 700)
H200_COSTS = 3.3
"""Times as much as a card of 80 GB."""


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
        ("openlm-research/open_llama_3b_v2", DIVIDED, ""),
        ("mistralai/Mistral-7B-v0.1", ", gradient_checkpointing=True", ""),
        ("google/gemma-7b", "", ""),
    ],
)
def test_a_larger_batch_asks_for_no_less(checkout: Build, model: str, more: str, adapters: str) -> None:
    asked = []
    for batch in BATCHES:
        hardware = trained(checkout, model, batch, more, adapters).proposed.hardware
        size = hardware.vram_required_gb or 0
        asked.append((hardware.gpu_count or 0) * (size if size <= 80 else 80 * H200_COSTS))
    assert asked == sorted(asked), dict(zip(BATCHES, asked, strict=True))


def test_cards_are_not_added_for_what_each_of_them_keeps(checkout: Build) -> None:
    # Eight H200 for $37 an hour were proposed for the first, and one A100 for twice its batch.
    for batch in (256, 512):
        found = trained(checkout, "mistralai/Mistral-7B-v0.1", batch, adapters=ADAPTERS)
        assert found.proposed.hardware.gpu_count == 1
        assert any("is assumed against what was read" in gap for gap in found.not_understood)


def test_texts_whose_length_nothing_says_are_shortened_before_a_batch_that_was_read_is_not_believed(
    checkout: Build,
) -> None:
    program = TRAIN.format(model="mistralai/Mistral-7B-v0.1", batch=256, more="", adapters=ADAPTERS)
    untold = analyze(checkout({"train.py": program.replace(", model_max_length=512", "")}))
    assert untold.breakdown is not None
    assert any(term.basis.startswith("batch 256 x ") for term in untold.breakdown.terms)
    assert not any(AGAINST in gap for gap in untold.not_understood)
    assert any(gap.startswith("no sequence length was found; ") for gap in untold.not_understood)


def test_only_what_takes_memory_from_a_run_is_assumed_against_what_was_read(checkout: Build) -> None:
    # "`max_length` is 512, and 4096 tokens are assumed", "`fp16` is on, and 16-bit numbers are assumed"
    model = "mistralai/Mixtral-8x22B-v0.1"
    found = trained(checkout, model, 1, ", gradient_checkpointing=True")
    half = analyze(
        checkout({"train.py": TRAIN.format(model=model, batch=1, more="", adapters="").replace("bf16", "fp16")})
    )
    assert not [gap for each in (found, half) for gap in each.not_understood if AGAINST in gap]


@pytest.mark.parametrize("batch", [1, 4])
def test_a_batch_is_believed_where_not_even_one_sample_fits_a_machine(checkout: Build, batch: int) -> None:
    # 70 B with all their states: four machines hold four samples a card as well as one.
    program = TRAIN.format(
        model="meta-llama/Llama-2-70b-hf", batch=batch, more=f"{DIVIDED}, gradient_checkpointing=True", adapters=""
    )
    found = analyze(checkout({"train.py": program, "run.sh": "torchrun --nproc_per_node 8 train.py\n"}))
    assert not any(AGAINST in gap for gap in found.not_understood)
    assert (found.proposed.hardware.num_nodes, found.proposed.hardware.gpu_count) == (4, 8)


@pytest.mark.parametrize(("batch", "is_believed"), [(16, True), (32, True), (128, False), (4096, False)])
def test_machines_are_added_for_a_model_and_not_for_its_batch(checkout: Build, batch: int, is_believed: bool) -> None:
    # At 32 samples it were 32 machines, and at 128 cards of 499 GB.
    found = trained(checkout, "meta-llama/Llama-2-70b-hf", batch)
    hardware = found.proposed.hardware
    assert (hardware.num_nodes, hardware.gpu_count, hardware.vram_required_gb) == (4, 8, 80)
    assert any(AGAINST in gap for gap in found.not_understood) is not is_believed


def test_to_write_a_batch_of_one_down_costs_nothing(checkout: Build) -> None:
    written = trained(checkout, "mistralai/Mixtral-8x7B-v0.1", 1)
    program = TRAIN.format(model="mistralai/Mixtral-8x7B-v0.1", batch=1, more="", adapters="")
    untold = analyze(
        checkout({"train.py": program.replace(", per_device_train_batch_size=1", ""), "requirements.txt": "torch\n"})
    )
    assert untold.proposed.hardware == written.proposed.hardware


def test_a_batch_that_is_not_believed_is_no_smaller_than_one_that_is(checkout: Build) -> None:
    sizes = {}
    for batch in (512, 1000, 2000):
        program = TRAIN.format(model="meta-llama/Llama-2-7b-hf", batch=batch, more="", adapters="")
        found = analyze(checkout({"train.py": program.replace(", model_max_length=512", "")}))
        assert found.breakdown is not None
        sizes[batch] = next(term.basis for term in found.breakdown.terms if term.name == "activations")
    assert [size.startswith("batch 512 x 128 tokens") for size in sizes.values()] == [True] * 3, sizes


def test_a_length_that_was_read_is_believed_where_only_what_is_not_sure_would_fit_no_card(checkout: Build) -> None:
    # Whether the loss is in chunks is TRL's release to say: 4096 tokens were assumed for what the sum has room for.
    program = """from peft import LoraConfig
from trl import SFTConfig, SFTTrainer
arguments = SFTConfig("out", max_length=16384)
SFTTrainer("Qwen/Qwen3-4B", peft_config=LoraConfig(r=16), args=arguments, train_dataset=data).train()
"""
    found = analyze(checkout({"train.py": program, "requirements.txt": "trl\npeft\n"}))
    assert not any(AGAINST in gap for gap in found.not_understood)


def test_more_answers_at_a_time_take_no_smaller_card(checkout: Build) -> None:
    program = """import argparse
from transformers import AutoModelForCausalLM, AutoTokenizer
parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default={batch})
parser.add_argument("--max_length", type=int, default=4096)
arguments = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("facebook/opt-1.3b").half().cuda()
model.generate(**batch_of(arguments.batch_size), max_length=arguments.max_length)
"""
    asked = []
    for batch in (1, 8, 64, 100, 256, 700, 1024):
        found = analyze(checkout({"generate.py": program.format(batch=batch)}))
        asked.append(found.proposed.hardware.vram_required_gb or 0)
    assert asked == sorted(asked)


def test_a_run_that_divides_its_model_keeps_its_cards_where_no_card_holds_its_batch(checkout: Build) -> None:
    assert trained(checkout, "facebook/opt-125m", 512, DIVIDED).proposed.hardware.gpu_count == 2
