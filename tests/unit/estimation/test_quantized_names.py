"""Names of quantized models."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.quantized_names import published_scheme, scheme_in_name
from gpu_lol_action.estimation.vram_states import QUANTIZATIONS, bits_of


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("unit/Llama-2-7B-GPTQ", "gptq"),
        ("unit/Qwen2.5-7B-Instruct-GPTQ-Int4", "gptq"),
        ("unit/Qwen2.5-7B-Instruct-GPTQ-Int8", "gptq-8bit"),
        ("unit/Meta-Llama-3-8B-Instruct-AWQ", "awq"),
        ("unit/Meta-Llama-3-8B-Instruct-AQLM-2Bit-1x16", "aqlm"),
        ("unit/llama-3-8b-bnb-4bit", "nf4"),
        ("unit/Llama-3.1-8B-FP8-dynamic", "fp8"),
        ("unit/Mistral-7B-w8a8", "int8"),
        ("unit/mistral-7b.Q4_K_M.gguf", "q4_k_m"),
        ("unit/gpt-oss-20b-mxfp4", "mxfp4"),
        ("awq/Llama-3-8B", None),
        ("unit/Llama-2-7b-hf", None),
        ("unit/opt-4b", None),
        ("", None),
    ],
)
def test_scheme_is_told_by_the_words_behind_the_maker(name, scheme):
    assert scheme_in_name(name) == scheme
    assert scheme is None or scheme in QUANTIZATIONS


@pytest.mark.parametrize(
    ("scheme", "bits"),
    [
        ("nf4", 4),
        ("gptq", 4),
        ("mxfp4", 4),
        ("aqlm", 2),
        ("int3", 3),
        ("int8", 8),
        ("gptq-8bit", 8),
        ("fp8", 8),
        ("q6_k", 6),
    ],
)
def test_bits_of_a_scheme_leave_its_scales_aside(scheme, bits):
    assert bits_of(scheme) == bits


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("openai/gpt-oss-20b", "mxfp4"),
        ("unit/gpt-oss-20b-BF16", None),
        ("deepseek-ai/DeepSeek-R1", "fp8"),
        ("deepseek-ai/DeepSeek-V3.1-Terminus", "fp8"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", None),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", None),
        ("unit/DeepSeek-V3-bf16", None),
        ("moonshotai/Kimi-K2-Instruct-0905", "fp8"),
        ("kimi-k2", "fp8"),  # as a server calls it
        ("moonshotai/Kimi-K2-Thinking", "int4"),
        ("MiniMaxAI/MiniMax-M2", "fp8"),
        ("deepseek-ai/DeepSeek-V2", None),
        ("", None),
    ],
)
def test_some_makers_publish_only_quantized_weights(name, scheme):
    assert published_scheme(name) == scheme
    assert scheme is None or scheme in QUANTIZATIONS
