from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import (
    GB,
    GIB,
    Method,
    Sharding,
    VramQuestion,
    estimate_vram,
    least_cards,
    sharded,
)
from gpu_lol_action.estimation.vram_shape import typical_model


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


# Llama 2 7B: h 4096, 32 layers, f 11008. A gated layer saves 22 h + 8 f = 178,176 bytes per token (Korthikanti et al. 2022,
# widened), a frozen MLP without adapters 2 f less.
LAYER = 22 * 4096 + 8 * 11008


def test_activations_are_those_of_a_gated_layer_times_layers() -> None:
    found = estimate_vram(VramQuestion(LLAMA, Method.FULL, batch_size=2, sequence_length=1000))
    assert gb(found, "activations") == pytest.approx(LAYER * 32 * 2000 / 1e9, rel=0.01)
    frozen = estimate_vram(VramQuestion(LLAMA, Method.LORA, batch_size=2, sequence_length=1000))
    assert gb(frozen, "activations") == pytest.approx((LAYER - 2 * 11008) * 32 * 2000 / 1e9, rel=0.01)


def test_checkpointing_keeps_each_layers_input_and_one_layer() -> None:
    question = VramQuestion(LLAMA, Method.FULL, batch_size=2, sequence_length=1000, is_checkpointing=True)
    expected = (2 * 4096 * 32 + LAYER) * 2000 / 1e9
    assert gb(estimate_vram(question), "activations") == pytest.approx(expected, rel=0.01)
    away = dataclasses.replace(question, is_activations_offloaded=True)
    assert gb(estimate_vram(away), "activations") == pytest.approx(LAYER * 2000 / 1e9, rel=0.01)


def test_attention_that_is_not_fused_keeps_the_pairs() -> None:
    fused = VramQuestion(LLAMA, Method.FULL, batch_size=1, sequence_length=1000)
    eager = dataclasses.replace(fused, is_attention_eager=True)
    more = gb(estimate_vram(eager), "activations") - gb(estimate_vram(fused), "activations")
    assert more == pytest.approx(5 * 32 * 1000 * 1000 * 32 / 1e9, rel=0.01)  # 5 a s² per layer


def test_a_chunked_loss_holds_an_eighth_of_the_logits() -> None:
    whole = VramQuestion(LLAMA, Method.LORA, sequence_length=4096)
    assert gb(estimate_vram(whole), "logits") == pytest.approx(12 * 4096 * 32000 / 1e9, rel=0.01)
    chunked = dataclasses.replace(whole, is_loss_chunked=True)
    assert gb(estimate_vram(chunked), "logits") == pytest.approx(12 * 4096 * 32000 / 8 / 1e9, rel=0.01)


def test_autocast_keeps_16_bit_copies_and_zero_does_not() -> None:
    question = VramQuestion(LLAMA, Method.FULL)
    assert gb(estimate_vram(question), "casts") == pytest.approx(6.738 * 2, rel=0.001)
    assert gb(estimate_vram(sharded(question, 8)), "casts") == 0


def test_stage_3_gathers_and_reduces_besides_its_share() -> None:
    found = estimate_vram(VramQuestion(LLAMA, Method.FULL, sharding=Sharding.ZERO3, gpu_count=8))
    # a billion parameters gathered, two buckets of half a billion gradients, at 2 bytes; 2 bytes more per gradient of the share
    assert gb(found, "buffers") == pytest.approx(2 + 2 + 2 * 6.738 / 8, rel=0.01)


@pytest.mark.parametrize("sharding", [Sharding.ZERO2, Sharding.ZERO3])
def test_an_offloaded_optimizer_takes_state_and_gradients_along(sharding: Sharding) -> None:
    question = VramQuestion(LLAMA, Method.FULL, sharding=sharding, gpu_count=4, is_optimizer_offloaded=True)
    assert gb(estimate_vram(question), "gradients", "optimizer") == 0
    # DeepSpeed's table for offloaded parameters: 4 bytes of the largest layer, here 32000 x 4096 of the embeddings.
    nothing = dataclasses.replace(question, is_parameters_offloaded=True, batch_size=0)
    assert estimate_vram(nothing).expected_gib * GIB / GB == pytest.approx(4 * 32000 * 4096 / 1e9, rel=0.05)


def test_a_gradient_that_is_freed_leaves_one_layers() -> None:
    question = VramQuestion(LLAMA, Method.FULL, is_pure_low_precision=True, is_gradient_freed=True)
    assert gb(estimate_vram(question), "gradients") == pytest.approx(6.738 * 2 / 32, rel=0.01)


def test_blockwise_training_holds_the_states_of_one_layer() -> None:
    # Luo et al. 2024: 2 bytes per parameter, and 16 per parameter of the block, of a layer here.
    found = estimate_vram(VramQuestion(LLAMA, Method.FULL, optimizer="badam", batch_size=0))
    assert gb(found, "weights") == pytest.approx(6.738 * 2, rel=0.001)
    layer = (6.738 - 2 * 32000 * 4096 / 1e9) / 32
    assert gb(found, "gradients", "optimizer") == pytest.approx(layer * 16, rel=0.01)
    assert not any(term.name == "casts" for term in found.terms)


def test_lisa_holds_the_states_of_embeddings_and_two_layers() -> None:
    found = estimate_vram(VramQuestion(LLAMA, Method.FULL, optimizer="lisa", is_pure_low_precision=True, batch_size=0))
    embeddings = 2 * 32000 * 4096 / 1e9
    trained = embeddings + 2 * (6.738 - embeddings) / 32
    assert gb(found, "gradients", "optimizer") == pytest.approx(trained * 6, rel=0.01)


def test_a_mixture_loads_all_experts_and_computes_with_some() -> None:
    mixtral = model("mistralai/Mixtral-8x7B-v0.1")
    found = estimate_vram(VramQuestion(mixtral, Method.FULL, sequence_length=1000))
    assert gb(found, "weights") == pytest.approx(46.7 * 2, rel=0.01)
    dense = dataclasses.replace(mixtral, active_parameters_b=0.0)
    assert gb(found, "activations") < gb(estimate_vram(VramQuestion(dense, Method.FULL, sequence_length=1000)), "activations") / 2  # fmt: skip


def test_states_alone_have_no_context() -> None:
    found = estimate_vram(VramQuestion(LLAMA, Method.INFERENCE, batch_size=0))
    assert [term.name for term in found.terms] == ["weights"]


def test_the_high_figure_holds_what_some_libraries_keep() -> None:
    plain = VramQuestion(LLAMA, Method.QLORA, weight_bits=4)
    tall = dataclasses.replace(LLAMA, vocabulary=152_064, parameters_b=LLAMA.parameters_b)
    wide = estimate_vram(dataclasses.replace(plain, model=tall, is_loss_chunked=True))
    assert wide.high_gib - wide.expected_gib > 2 * 2 * 152_064 * 4096 / GIB  # embeddings and head at 32 bit


def test_least_cards_shards_what_one_card_cannot_hold() -> None:
    question = VramQuestion(LLAMA, Method.FULL, batch_size=1, sequence_length=512)
    assert least_cards(question, 79.2) == 2
    assert least_cards(VramQuestion(LLAMA, Method.INFERENCE), 23.7) == 1
    assert least_cards(dataclasses.replace(question, model=model("meta-llama/Llama-3.1-405B")), 79.2) is None
    assert sharded(question, 2).sharding is Sharding.ZERO3


def test_an_unknown_shape_is_said_to_be_rough() -> None:
    found = estimate_vram(VramQuestion(ModelFacts("somebody/weather", "weather", 1.0), Method.INFERENCE))
    assert any("rough" in note for note in found.notes)


_LANGUAGE = [
    LLAMA,
    model("gpt2"),
    model("Qwen/Qwen2.5-7B"),
    model("mistralai/Mixtral-8x7B-v0.1"),
    model("google-t5/t5-base"),
]
_questions = st.builds(
    VramQuestion,
    model=st.sampled_from(_LANGUAGE),
    method=st.sampled_from(Method),
    precision=st.sampled_from(["bf16", "fp16", "fp32"]),
    weight_bits=st.sampled_from([2, 4, 8, 16, 32]),
    optimizer=st.sampled_from(["adamw", "adafactor", "sgd", "adamw_8bit", "paged_adamw", "lion", "galore", "badam"]),
    batch_size=st.integers(1, 256),
    sequence_length=st.integers(16, 100_000),
    is_checkpointing=st.booleans(),
    sharding=st.sampled_from(Sharding),
    gpu_count=st.integers(1, 16),
    lora_rank=st.integers(1, 256),
    is_lora_everywhere=st.booleans(),
    is_pure_low_precision=st.booleans(),
    is_loss_chunked=st.booleans(),
    is_optimizer_offloaded=st.booleans(),
    is_parameters_offloaded=st.booleans(),
    is_attention_eager=st.booleans(),
    tensor_parallel=st.sampled_from([1, 2, 4]),
)


def total(question: VramQuestion) -> float:
    return sum(term.gib for term in estimate_vram(question).terms)


@given(_questions)
def test_terms_sum_up_within_their_range(question: VramQuestion) -> None:
    found = estimate_vram(question)
    assert sum(term.gib for term in found.terms) == pytest.approx(found.expected_gib, abs=0.02)
    assert 0 <= found.low_gib <= found.expected_gib <= found.high_gib
    assert found.expected_gib - 0.1 <= found.required_gib <= found.high_gib + 1


@given(_questions, st.integers(1, 64), st.integers(1, 4096), st.floats(1, 3), st.integers(1, 64))
def test_more_of_anything_never_needs_less(
    question: VramQuestion, batch: int, tokens: int, factor: float, rank: int
) -> None:
    size = total(question) - 0.02  # terms are rounded, and the smallest are left out
    larger = dataclasses.replace(question.model, parameters_b=question.model.parameters_b * factor)
    assert total(dataclasses.replace(question, batch_size=question.batch_size + batch)) >= size
    assert total(dataclasses.replace(question, sequence_length=question.sequence_length + tokens)) >= size
    assert total(dataclasses.replace(question, lora_rank=question.lora_rank + rank)) >= size
    assert total(dataclasses.replace(question, model=larger)) >= size


@given(_questions)
def test_what_saves_memory_never_costs_any(question: VramQuestion) -> None:
    size = total(question) + 0.02
    assert (
        total(dataclasses.replace(question, is_checkpointing=True))
        <= total(dataclasses.replace(question, is_checkpointing=False)) + 0.02
    )
    assert total(dataclasses.replace(question, is_optimizer_offloaded=True)) <= size
    assert total(dataclasses.replace(question, is_parameters_offloaded=True)) <= size
    assert total(dataclasses.replace(question, is_activations_offloaded=True)) <= size
    assert total(dataclasses.replace(question, is_loss_chunked=True)) <= size
    assert total(dataclasses.replace(question, is_gradient_freed=True)) <= size
    assert total(dataclasses.replace(question, tensor_parallel=question.tensor_parallel * 2)) <= size


@given(_questions, st.integers(2, 16), st.sampled_from(["adamw", "lion", "sgd"]))
def test_sharding_and_more_cards_never_need_more(question: VramQuestion, count: int, optimizer: str) -> None:
    # Where an optimizer keeps next to nothing, or all is offloaded, nothing is divided and what is gathered comes on top.
    question = dataclasses.replace(question, optimizer=optimizer, tensor_parallel=1, is_parameters_offloaded=False)
    alone = total(dataclasses.replace(question, sharding=Sharding.NONE, gpu_count=count)) + 0.02
    for sharding in Sharding:
        spread = dataclasses.replace(question, sharding=sharding, gpu_count=count)
        assert total(spread) <= alone, sharding
        assert total(dataclasses.replace(spread, gpu_count=count * 2)) <= total(spread) + 0.02, sharding


@given(st.floats(0.05, 500), st.floats(1, 2), st.sampled_from(Method))
def test_a_larger_model_of_usual_proportions_never_needs_less(size: float, factor: float, method: Method) -> None:
    small = VramQuestion(typical_model("small", size), method)
    large = VramQuestion(typical_model("large", size * factor), method)
    assert total(large) >= total(small) - 0.02


@pytest.mark.parametrize("kind", ["llm", "vlm", "omni"])
def test_what_a_model_without_a_shape_keeps_grows_with_batch_and_length(kind: str) -> None:
    unknown = ModelFacts("acme/twelve-b", kind, 12.0)
    asked = VramQuestion(unknown, Method.LORA, batch_size=1, sequence_length=2048, is_checkpointing=True)
    usual = dataclasses.replace(asked, model=typical_model("acme/twelve-b", 12.0, kind))
    small, wide, long = (
        estimate_vram(dataclasses.replace(asked, batch_size=batch, sequence_length=length)).expected_gib
        for batch, length in ((1, 2048), (4, 2048), (1, 8192))
    )
    assert wide > small + 3
    assert long > small + 3
    assert small == pytest.approx(estimate_vram(usual).expected_gib, rel=0.02)
