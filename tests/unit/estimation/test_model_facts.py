from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.model_facts import find_model, shape_model
from gpu_lol_action.estimation.vram import Method, Sharding, VramQuestion, estimate_vram


@pytest.mark.parametrize(
    ("name", "billions", "source"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 7.62, "table"),
        ("decapoda-research/llama-7b-hf", 6.74, "table"),
        ("unsloth/llama-3-8b-bnb-4bit", 8.03, "table"),
        ("llama-2-7b-chat/", 6.74, "table"),
        ("mistralai/Devstral-Small-2505", 23.57, "table"),
        ("vit_base_patch16_224", 0.0866, "table"),
        ("resnet152", 0.0602, "table"),
        ("gpt2", 0.124, "table"),
        ("mistralai/Magistral-Small-2507", 23.57, "table"),
        ("somebody/Llama-4-Scout-17B-16E-Linearized-bnb-nf4-bf16", 108.64, "table"),
        ("somebody/Qwen2.5-7B-my-own-sft", 7.62, "table"),
        ("somebody/Llama-3.1-8B-Pruned-4B", 8.0, "name"),  # two sizes: a part of the one
        ("somebody/our-own-13b-chat", 13.0, "name"),
        ("somebody/our-own-30.5b", 30.5, "name"),
        ("somebody/moe-8x7b", 46.5, "name"),
        ("somebody/tiny-350m", 0.35, "name"),
    ],
)
def test_find_model_knows_the_size(name: str, billions: float, source: str) -> None:
    found = find_model(name)
    assert found is not None
    assert found.parameters_b == pytest.approx(billions, rel=0.01)
    assert found.source == source


@pytest.mark.parametrize(
    "name",
    [
        "d900eceeded7be9e1b7d2", "a 256 batch_size", "F402\nBASE_MODEL", "170 bpm", "16bit", "64 Bit", "300B tokens",
        "data/train-7b.json", "climbmix-400b", "", "x", "/" * 300, "somebody/model", "32b",
    ],
)  # fmt: skip
def test_find_model_takes_no_number_for_a_size_that_is_none(name: str) -> None:
    assert find_model(name) is None


def test_a_mixtures_active_share_is_read_off_its_name() -> None:
    found = find_model("somebody/ours-30B-A3B")
    assert found is not None
    assert (found.parameters_b, found.active_parameters_b) == (30.0, 3.0)


def test_a_size_from_a_name_takes_the_shape_of_its_family() -> None:
    found = find_model("open-r1/Qwen2.5-Math-7B-RoPE-300k")
    assert found is not None
    assert (found.hidden_size, found.layers) == (3584, 28)
    assert "Qwen" in found.note


def test_shape_model_counts_gpt2() -> None:
    facts = shape_model("own", layers=12, hidden_size=768, vocabulary=50257)
    assert facts.parameters_b == pytest.approx(0.124, rel=0.02)


@given(st.text(max_size=150))
def test_find_model_answers_any_text(text: str) -> None:
    found = find_model(text)
    assert found is None or found.parameters_b > 0


def test_a_model_of_some_thousand_parameters_has_some() -> None:
    tiny = shape_model("tiny", layers=2, hidden_size=32, vocabulary=257)

    assert tiny.parameters_b == pytest.approx((12 * 2 * 32**2 + 257 * 32) / 1e9)
    assert shape_model("small", layers=12, hidden_size=768, vocabulary=50257).parameters_b == 0.1235


def test_a_tiny_model_on_frozen_and_divided_weights_is_estimated() -> None:
    tiny = shape_model("tiny", layers=2, hidden_size=32, vocabulary=257)
    question = VramQuestion(tiny, Method.INFERENCE, gpu_count=2, sharding=Sharding.FSDP)

    assert 0 < estimate_vram(question).expected_gib < 2


@pytest.mark.parametrize(("name", "is_grouped"), [("somebody/own-30.5b", True), ("somebody/opt-30b-own", False)])
def test_large_models_without_a_family_share_their_keys_among_heads(name: str, is_grouped: bool) -> None:
    facts = find_model(name)
    assert facts is not None
    assert (facts.kv_heads < facts.attention_heads) is is_grouped


@pytest.mark.parametrize(
    ("name", "most_words"),
    [
        # BLOOM's and Gemma's vocabularies are nearest to 7.0, 3.0 and 1.0 billion parameters, and nobody else's.
        ("somebody/ours-7B", 160_000),
        ("somebody/ours-3B", 160_000),
        ("somebody/ours-1B", 160_000),
        # Of the same owner, though another's size is nearer.
        ("HuggingFaceTB/ours-2.2B-Instruct", 49_152),
    ],
)
def test_a_size_in_a_name_takes_the_shape_of_a_usual_vocabulary(name: str, most_words: int) -> None:
    found = find_model(name)
    assert found is not None
    assert 0 < found.vocabulary <= most_words


@pytest.mark.parametrize("name", ["somebody/bloom-ours-7b", "somebody/gemma-ours-1b"])
def test_a_family_keeps_its_own_vocabulary(name: str) -> None:
    found = find_model(name)
    assert found is not None
    assert found.vocabulary > 200_000


@pytest.mark.parametrize(
    ("file", "known"),
    [
        ("sd_xl_base_1.0.safetensors", "stabilityai/stable-diffusion-xl-base-1.0"),
        ("models/unet/flux1-dev.safetensors", "black-forest-labs/FLUX.1-dev"),
        ("/data/v1-5-pruned-emaonly.ckpt", "stable-diffusion-v1-5/stable-diffusion-v1-5"),
        ("last.ckpt", None),
    ],
)
def test_a_file_of_weights_is_known_by_what_its_makers_called_it(file: str, known: str | None) -> None:
    found = find_model(file)
    assert (found.name if found is not None else None) == known
