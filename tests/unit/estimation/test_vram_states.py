from __future__ import annotations

import pytest

from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram_question import GB, Method, VramQuestion
from gpu_lol_action.estimation.vram_shape import layer_shape, model_of_shape, typical_model
from gpu_lol_action.estimation.vram_states import (
    QUANTIZATIONS,
    adapter_bytes,
    is_gradient_freed,
    moment_bytes,
    stored_gb,
    trained_bytes,
)

PLAIN = ModelFacts("no vocabulary", "llm", 10.0, 4096, 32, 32, 32)  # nothing stays at 16 bit


@pytest.mark.parametrize(
    ("scheme", "gb"),
    [
        ("nf4", 5.625),  # a 32-bit scale per block of 64: 4.5 bits
        ("nf4-dq", 5.159),  # 4.127 bits (Dettmers et al. 2023)
        ("gptq", 5.195),  # 20 bits per group of 128
        ("int8", 10.5),
        ("fp8", 10.0),
        ("q4_k", 5.625),
        ("q8_0", 10.625),
    ],
)
def test_a_schemes_bytes_are_those_of_its_paper(scheme: str, gb: float) -> None:
    question = VramQuestion(PLAIN, Method.INFERENCE, weight_bits=4, quantization=scheme)
    assert stored_gb(question) == pytest.approx(gb, rel=0.001)


def test_embeddings_and_head_stay_at_16_bit_but_for_gguf() -> None:
    tall = ModelFacts("tall", "llm", 10.0, 4096, 32, 32, 32, 128_000)
    kept = 2 * 128_000 * 4096 / GB
    assert stored_gb(VramQuestion(tall, Method.INFERENCE, weight_bits=4, quantization="nf4")) == pytest.approx(
        (10 - kept) * 0.5625 + kept * 2
    )
    assert stored_gb(VramQuestion(tall, Method.INFERENCE, weight_bits=4, quantization="q4_k")) == pytest.approx(5.625)


def test_every_scheme_holds_at_least_its_bits() -> None:
    for scheme, each in QUANTIZATIONS.items():
        digits = [int(sign) for sign in scheme if sign in "2345678"]
        assert each >= (digits[0] if digits else 2) / 8, scheme


@pytest.mark.parametrize(
    ("optimizer", "at_32_bit"),
    [
        ("adamw", 8.0),
        ("AdamW_torch_fused", 8.0),
        ("adamw_8bit", 2.0),
        ("adamw_bnb_8bit", 2.0),
        ("paged_adamw_32bit", 8.0),
        ("lion", 4.0),
        ("lion_8bit", 1.0),
        ("muon", 4.0),
        ("sgd", 4.0),
        ("adafactor", 0.1),
        ("galore_adamw", 2.0),
        ("an optimizer of tomorrow", 8.0),
    ],
)
def test_moments_by_optimizer(optimizer: str, at_32_bit: float) -> None:
    assert moment_bytes(optimizer, 4.0) == pytest.approx(at_32_bit)


def test_trained_bytes_sum_to_the_papers_16() -> None:
    assert sum(trained_bytes(VramQuestion(PLAIN, Method.FULL))) == 16
    assert sum(trained_bytes(VramQuestion(PLAIN, Method.FULL, precision="fp32"))) == 16
    assert adapter_bytes(VramQuestion(PLAIN, Method.LORA)) == 16
    assert adapter_bytes(VramQuestion(PLAIN, Method.LORA, optimizer="paged_adamw")) == 8


@pytest.mark.parametrize(
    ("optimizer", "is_freed"),
    [
        ("lomo", True),
        ("galore_adamw", False),
        ("galore_adamw_layerwise", True),
        ("galore_adamw8bit_per_layer", True),
        ("adamw in backward", True),
        ("adamw", False),
    ],
)
def test_gradients_are_freed_by_optimizers_that_step_in_the_backward_pass(optimizer: str, *, is_freed: bool) -> None:
    assert is_gradient_freed(VramQuestion(PLAIN, Method.FULL, optimizer=optimizer)) is is_freed


@pytest.mark.parametrize(
    ("facts", "is_gated", "inner"),
    [
        (ModelFacts("a", "llm", 6.738, 4096, 32, 32, 32, 32_000, feed_forward=11_008), True, 11_008),  # Llama 2 7B
        (ModelFacts("b", "llm", 1.418, 2048, 24, 32, 32, 51_200, feed_forward=8192), False, 8192),  # phi-1.5
        (ModelFacts("c", "llm", 7.217, 4544, 32, 71, 1, 65_024, feed_forward=18_176), False, 18_176),  # Falcon 7B
        (ModelFacts("d", "seq2seq", 2.851, 1024, 48, 32, 32, 32_128, feed_forward=16_384), False, 16_384),  # T5 3B
        (ModelFacts("e", "llm", 68.977, 8192, 80, 64, 8, 32_000, feed_forward=28_672), True, 28_672),  # Llama 2 70B
    ],
)
def test_the_parameter_count_says_how_many_matrices_the_mlp_has(
    facts: ModelFacts, inner: int, *, is_gated: bool
) -> None:
    shape = layer_shape(facts)
    assert (shape.is_gated, shape.inner) == (is_gated, inner)


def test_a_mixture_without_a_count_of_active_parameters_uses_two_wide_experts_or_eight_narrow_ones() -> None:
    mixtral = ModelFacts("m", "llm-moe", 46.7, 4096, 32, 32, 8, 32_000, feed_forward=14_336)
    assert layer_shape(mixtral).inner == 2 * 14_336
    narrow = ModelFacts("n", "llm-moe", 30.5, 2048, 48, 32, 4, 151_936, feed_forward=768)
    assert layer_shape(narrow).inner == 8 * 768


def test_an_unknown_inner_width_follows_from_the_parameters() -> None:
    shape = layer_shape(ModelFacts("Llama-2-7B", "llm", 6.738, 4096, 32, 32, 32, 32_000))
    assert shape.inner == pytest.approx(11_008, rel=0.02)
    bert = find_model("google-bert/bert-base-cased")
    assert bert is not None
    assert layer_shape(bert).inner == pytest.approx(3072, rel=0.05)
    assert not layer_shape(bert).is_gated


def test_typical_proportions_are_those_of_llama() -> None:
    assert [(typical_model("m", size).hidden_size, typical_model("m", size).layers) for size in (6.7, 13.0)] == [
        (4096, 32),
        (5120, 40),
    ]


def test_a_shape_gives_its_parameters() -> None:
    assert model_of_shape("m", 4096, 32, 32_000, 11_008).parameters_b == pytest.approx(6.6, abs=0.1)
    assert model_of_shape("m", 768, 12, 50_257, 0).parameters_b == pytest.approx(0.124, abs=0.002)  # GPT-2 small
