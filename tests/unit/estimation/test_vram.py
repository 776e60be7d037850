from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.model_facts import ModelFacts, find_model
from gpu_lol_action.estimation.vram import (
    GB,
    GIB,
    Method,
    Sharding,
    VramQuestion,
    adapter_parameters_b,
    estimate_vram,
    least_cards,
    sharded,
)


def model(name: str) -> ModelFacts:
    found = find_model(name)
    assert found is not None
    return found


LLAMA = model("meta-llama/Llama-2-7b-hf")


def gb(breakdown: MemoryBreakdown, *names: str) -> float:
    return sum(term.gib for term in breakdown.terms if term.name in names) * GIB / GB


@pytest.mark.parametrize(
    ("stage", "expected_gb"),
    [(Sharding.NONE, 120.0), (Sharding.ZERO1, 31.4), (Sharding.ZERO2, 16.6), (Sharding.ZERO3, 1.9)],
)
def test_zero_stages_give_the_figures_of_the_paper(stage: Sharding, expected_gb: float) -> None:
    facts = ModelFacts("7.5B", "llm", 7.5, 4096, 36, 32, 32, 0)  # Rajbhandari et al. 2020, figure 1
    found = estimate_vram(VramQuestion(facts, Method.FULL, sharding=stage, gpu_count=64))
    assert gb(found, "weights", "gradients", "optimizer") == pytest.approx(expected_gb, abs=0.06)


def test_qlora_of_65b_fits_on_one_48_gb_card() -> None:
    question = VramQuestion(model("huggyllama/llama-65b"), Method.QLORA, weight_bits=4, sequence_length=512,
                            is_checkpointing=True, lora_rank=64, is_lora_everywhere=True, optimizer="paged_adamw_32bit")  # fmt: skip
    assert estimate_vram(question).expected_gib < 47.5  # Dettmers et al. 2023


def test_inference_is_weights_and_cache() -> None:
    found = estimate_vram(VramQuestion(LLAMA, Method.INFERENCE, sequence_length=4096))
    assert gb(found, "weights") == pytest.approx(13.48, abs=0.01)
    assert gb(found, "KV cache") == pytest.approx(2.147, abs=0.01)  # 2 x 32 layers x 4096 x 4096 tokens x 2 bytes
    assert found.low_gib < found.expected_gib < found.required_gib <= found.high_gib + 1


def test_grouped_queries_shrink_the_cache() -> None:
    wide = estimate_vram(VramQuestion(LLAMA, Method.INFERENCE, sequence_length=8192))
    grouped = dataclasses.replace(LLAMA, kv_heads=8)
    narrow = estimate_vram(VramQuestion(grouped, Method.INFERENCE, sequence_length=8192))
    assert gb(narrow, "KV cache") == pytest.approx(gb(wide, "KV cache") / 4, rel=0.01)


@pytest.mark.parametrize(
    ("optimizer", "precision", "is_pure", "bytes_per_parameter"),
    [
        ("adamw", "bf16", False, 16.0),
        ("adamw", "fp32", False, 16.0),
        ("adamw_8bit", "bf16", False, 10.0),
        ("adamw", "bf16", True, 8.0),
        ("paged_adamw_8bit", "bf16", True, 4.0),
        ("adafactor", "bf16", False, 8.1),
        ("sgd", "fp32", False, 12.0),
    ],
)
def test_bytes_per_trained_parameter(optimizer: str, precision: str, is_pure: bool, bytes_per_parameter: float) -> None:
    question = VramQuestion(LLAMA, Method.FULL, precision=precision, optimizer=optimizer, is_pure_low_precision=is_pure)
    found = estimate_vram(question)
    assert gb(found, "weights", "gradients", "optimizer") == pytest.approx(6.7384 * bytes_per_parameter, rel=0.001)


def test_checkpointing_trades_activations() -> None:
    plain = estimate_vram(VramQuestion(LLAMA, Method.LORA, batch_size=4))
    saving = estimate_vram(VramQuestion(LLAMA, Method.LORA, batch_size=4, is_checkpointing=True))
    assert gb(plain, "activations") / gb(saving, "activations") == pytest.approx(34 * 32 / (2 * 32 + 34), rel=0.01)


def test_adapter_parameters_of_lora_on_query_and_value() -> None:
    # rank 8 on q and v of Llama-2-7B: 4,194,304 trainable parameters (peft prints it).
    assert adapter_parameters_b(LLAMA, 8, is_everywhere=False) * 1e9 == pytest.approx(4_194_304, rel=0.001)


def test_least_cards_shards_what_one_card_cannot_hold() -> None:
    question = VramQuestion(LLAMA, Method.FULL, batch_size=1, sequence_length=512)
    assert least_cards(question, 79.2) == 2
    assert least_cards(VramQuestion(LLAMA, Method.INFERENCE), 23.7) == 1
    assert least_cards(dataclasses.replace(question, model=model("meta-llama/Llama-3.1-405B")), 79.2) is None
    assert sharded(question, 2).sharding is Sharding.ZERO3


def test_an_unknown_shape_is_said_to_be_rough() -> None:
    found = estimate_vram(VramQuestion(model("stabilityai/TripoSR"), Method.INFERENCE))
    assert any("rough" in note for note in found.notes)


_questions = st.builds(
    VramQuestion,
    model=st.sampled_from([LLAMA, model("gpt2"), model("Qwen/Qwen2.5-7B"), model("runwayml/stable-diffusion-v1-5")]),
    method=st.sampled_from(Method),
    precision=st.sampled_from(["bf16", "fp16", "fp32"]),
    weight_bits=st.sampled_from([4, 8, 16, 32]),
    optimizer=st.sampled_from(["adamw", "adafactor", "sgd", "adamw_8bit"]),
    batch_size=st.integers(1, 256),
    sequence_length=st.integers(16, 100_000),
    is_checkpointing=st.booleans(),
    sharding=st.sampled_from(Sharding),
    gpu_count=st.integers(1, 16),
)


@given(_questions)
def test_terms_sum_up_and_a_longer_batch_never_needs_less(question: VramQuestion) -> None:
    found = estimate_vram(question)
    assert sum(term.gib for term in found.terms) == pytest.approx(found.expected_gib, abs=0.1)
    assert found.low_gib <= found.expected_gib <= found.high_gib
    assert found.required_gib >= found.expected_gib - 0.1
    longer = estimate_vram(dataclasses.replace(question, batch_size=question.batch_size + 1))
    assert longer.expected_gib >= found.expected_gib
