"""Names of Ollama's library: which models they are, and how their weights lie."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.ollama_names import WIDTHS, published_names, scheme_of_tag, with_size
from gpu_lol_action.estimation.vram import Method, VramQuestion, estimate_vram
from gpu_lol_action.estimation.vram_states import QUANTIZATIONS


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("llama3.1:70b", "meta-llama/Llama-3.1-70B"),
        ("llama3.1:70b-instruct-q8_0", "meta-llama/Llama-3.1-70B"),
        ("qwen2.5-coder:32b", "Qwen/Qwen2.5-Coder-32B-Instruct"),
        ("qwen3:30b-a3b", "Qwen/Qwen3-30B-A3B"),
        ("gemma3:27b", "google/gemma-3-27b-it"),
        ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "meta-llama/Llama-3.2-3B"),
        # No table has these: the tag's size is believed.
        ("moondream:1.8b", "moondream:1.8b"),
        ("someone/their-own:13b", "someone/their-own:13b"),
    ],
)
def test_tagged_name_is_a_model_of_the_tables_or_of_its_size(name: str, known: str) -> None:
    facts = find_model(name)
    assert facts is not None
    assert facts.name == known


@pytest.mark.parametrize("name", ["cache:5m", "postgres:16", "python:3.11-slim", "C:/models/x", "https://a.example/b"])
def test_other_words_with_a_colon_are_no_models(name: str) -> None:
    assert find_model(name) is None


def test_each_width_of_a_tag_is_known() -> None:
    assert set(QUANTIZATIONS) >= WIDTHS


def test_mixture_has_the_size_of_all_its_experts() -> None:
    facts = find_model("mixtral:8x7b")
    assert facts is not None
    assert facts.parameters_b == pytest.approx(46.5, abs=0.5)


@pytest.mark.parametrize(
    "name", ["registry.example:5000", "whisper:large", "openai/gpt-4o:free", "a:b:7b", "llama3.1", "mistral:latest"]
)
def test_other_names_are_none_of_ollamas(name: str) -> None:
    assert not list(published_names(name))
    assert scheme_of_tag(name) is None


@pytest.mark.parametrize(
    ("bare", "tagged"),
    [("llama3.1", "llama3.1:8b"), ("mistral:latest", "mistral:7b"), ("llama3.1:70b", "llama3.1:70b"), ("own", "own")],
)
def test_name_without_a_tag_has_the_size_of_its_page(bare: str, tagged: str) -> None:
    assert with_size(bare) == tagged


def test_each_size_of_the_table_can_be_found() -> None:
    for row in table_rows("ollama_models.csv"):
        assert find_model(with_size(row["model"])) is not None, row


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("llama3.1:8b", "q4_k_m"),
        ("llama3.1:8b-instruct-q8_0", "q8_0"),
        ("llama3.1:8b-instruct-q5_K_M", "q5_k_m"),
        ("llama3.1:8b-instruct-fp16", None),
        ("gpt-oss:20b", "mxfp4"),
        ("hf.co/a/B-7B-GGUF:Q6_K", "q6_k"),
        ("llama3.1:8b-q5_1", "q5_1"),
        ("llama3.1:8b-q3_K_L", "q3_k"),
        # A width that llama.cpp does not have.
        ("llama3.1:8b-q3_0", "q4_k_m"),
        ("llama3.1:8b-q7_k", "q4_k_m"),
    ],
)
def test_tag_says_how_weights_lie(name: str, scheme: str | None) -> None:
    assert scheme_of_tag(name) == scheme


@pytest.mark.parametrize(
    ("name", "gigabytes"), [("llama3.1:8b", 4.9), ("llama3.1:70b", 43.1), ("llama3.1:405b", 249.1)]
)
def test_weights_are_as_large_as_llama_cpp_publishes_them(name: str, gigabytes: float) -> None:
    facts = find_model(name)
    assert facts is not None
    question = VramQuestion(facts, Method.INFERENCE, weight_bits=4, quantization="q4_k_m")
    assert estimate_vram(question).terms[0].gib * 2**30 / 1e9 == pytest.approx(gigabytes, rel=0.01)
