"""Tokens of a picture by its model's family."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.picture_tokens import picture_tokens


@pytest.mark.parametrize(
    ("model", "limit", "tokens"),
    [
        ("llava-hf/llava-1.5-7b-hf", 0, 576),  # (336 / 14)²
        ("llava-hf/llava-v1.6-mistral-7b-hf", 0, 2880),
        ("google/paligemma-3b-mix-224", 0, 256),
        ("google/paligemma2-3b-pt-448", 0, 1024),
        ("Qwen/Qwen2-VL-7B-Instruct", 1280 * 28 * 28, 1280),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 0, 1275),  # a picture of a million pixels
        ("Qwen/Qwen2.5-VL-7B-Instruct", 12_845_056, 2551),  # few are as large as the limit
        ("Qwen/Qwen3-VL-4B-Instruct", 1024 * 1024, 1024),
        ("OpenGVLab/InternVL3-8B", 0, 3328),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", 0, 0),  # through cross-attention
        ("HuggingFaceM4/idefics2-8b", 0, 320),
        ("Qwen/Qwen2.5-7B-Instruct", 0, None),
    ],
)
def test_a_familys_pictures_take_so_many_tokens(model: str, limit: int, tokens: int | None) -> None:
    assert picture_tokens(model, limit) == tokens
