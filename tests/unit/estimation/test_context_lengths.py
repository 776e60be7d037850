from __future__ import annotations

import pytest

from gpu_lol_action.estimation.context_lengths import context_length


@pytest.mark.parametrize(
    ("model", "length"),
    [
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", 131_072),
        ("meta-llama/Meta-Llama-3-8B", 8_192),
        ("meta-llama/Llama-2-7b-chat-hf", 4_096),
        ("Qwen/Qwen2.5-7B-Instruct", 32_768),
        ("Qwen/Qwen3-8B", 40_960),
        ("mistralai/Mistral-7B-Instruct-v0.3", 32_768),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", 131_072),
        ("deepseek-ai/DeepSeek-V3", 163_840),
        ("somebody/unheard-of-7b", None),
    ],
)
def test_families_have_the_context_of_their_configuration(model: str, length: int | None) -> None:
    assert context_length(model) == length
