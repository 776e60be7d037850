"""The longest sequence that families of language models are configured for: what a server keeps room for unless told less.

The numbers are ``max_position_embeddings`` of the models' published ``config.json``. vLLM and SGLang refuse to start where the
cache of one sequence of that length does not fit, so that a server which says nothing needs it.
"""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

_LENGTHS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (regex(pattern, re.IGNORECASE), length)
    for pattern, length in (
        (r"llama-?3[._][123]|llama-?3[._]3|gpt-oss|gemma-?3(?!-1b)|mistral-nemo|phi-[34].*128k|phi-3\.5|command-r|glm-4", 131_072),
        (r"gemma-?3-1b|mixtral-8x7b|mistral-7b.*v0\.[123]|qwen1\.5|qwen2(?:[._]5)?(?:[-_]|$)|yi.*32k|qwq", 32_768),
        (r"mixtral-8x22b", 65_536),
        (r"qwen-?3", 40_960),
        (r"deepseek-(?:v[23]|r1)(?!-distill)", 163_840),
        (r"deepseek-r1-distill", 131_072),
        (r"ministral|mistral-small|codestral", 32_768),
        (r"llama-?3|gemma-?2|phi-4$|olmo-2", 8_192),
        (r"code-?llama", 16_384),
        (r"llama-?2|vicuna|llava|phi-3.*4k|yi-", 4_096),
        (r"tinyllama|phi-[12]|opt-|falcon|pythia|llama-", 2_048),
        (r"gpt-?2", 1_024),
    )
)  # fmt: skip


def context_length(model: str) -> int | None:
    """Return how many tokens a model is made for; None where its family is not known."""
    return next((length for pattern, length in _LENGTHS if pattern.search(model)), None)
