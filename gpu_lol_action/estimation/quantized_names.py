"""What a model's name says of how its weights are stored: quantizers put the scheme behind the name of the model they took."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.ollama_names import scheme_of_tag

# In this order: a name with a scheme and a width (`AQLM-2Bit`, `GPTQ-Int8`) means both.
_SCHEMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (regex(rf"(?:^|[-_.])(?:{words})(?=$|[-_.])", re.IGNORECASE), scheme)
    for words, scheme in (
        (r"gptq[-_]?(?:int)?8(?:[-_]?bits?)?", "gptq-8bit"),
        (r"gptq(?:model)?", "gptq"),
        (r"awq", "awq"),
        (r"aqlm", "aqlm"),
        (r"mxfp4", "mxfp4"),
        (r"nvfp4", "nvfp4"),
        (r"(?:unsloth[-_])?bnb[-_]4[-_]?bit|nf4", "nf4"),
        (r"q2_k(?:_\w)?", "q2_k"),
        (r"q3_k(?:_\w)?", "q3_k"),
        (r"q4_k_m", "q4_k_m"),
        (r"q4_k_s", "q4_k_s"),
        (r"q4_k(?:_\w)?", "q4_k"),
        (r"q4_0", "q4_0"),
        (r"q5_k_m", "q5_k_m"),
        (r"q5_k_s", "q5_k_s"),
        (r"q5_k(?:_\w)?", "q5_k"),
        (r"q6_k", "q6_k"),
        (r"q8_0", "q8_0"),
        (r"fp8(?:[-_]dynamic)?|w8a8[-_]?fp8", "fp8"),
        (r"2[-_]?bits?|int2|w2a16", "int2"),
        (r"3[-_]?bits?|int3|w3a16|q3f16(?:_\d)?", "int3"),
        (r"4[-_]?bits?|int4|w4a16|q4f(?:16|32)(?:_\d)?", "int4"),  # the last are MLC's
        (r"8[-_]?bits?|int8|w8a8|w8a16", "int8"),
    )
)

# Families whose makers publish the weights quantized, as their model cards say; copies in 16 bit say so in their names.
_PUBLISHED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (regex(rf"^(?:{words})$", re.IGNORECASE), scheme)
    for words, scheme in (
        (r"gpt-oss-\d+b", "mxfp4"),
        (r"deepseek-(?:v3|r1)(?:[.-](?!distill|qwen|llama|bf16)[\w.]{1,12}){0,3}", "fp8"),
        (r"kimi-k2(?:\.\d)?-thinking", "int4"),
        (r"kimi-k2(?:-(?:instruct|base)(?:-\d{4})?)?", "fp8"),
        (r"minimax-m2(?:\.\d)?", "fp8"),
    )
)


def published_scheme(name: str) -> str | None:
    """Return the scheme that a model's makers publish its only weights in; None where they publish 16 bit.

    ``deepseek-ai/DeepSeek-R1`` gives ``fp8``, ``openai/gpt-oss-20b`` ``mxfp4``, Ollama's ``llama3.1:8b`` ``q4_k_m``.
    """
    if ":" in name and (lies := scheme_of_tag(name)) is not None:
        return lies
    last = name.rstrip("/").rpartition("/")[2]
    return next((scheme for pattern, scheme in _PUBLISHED if pattern.search(last)), None)


def scheme_in_name(name: str) -> str | None:
    """Return the scheme, a key of ``vram_states.QUANTIZATIONS``, that a model's id ends in; None where it names none.

    ``TheBloke/Llama-2-7B-GPTQ`` gives ``gptq``. Only the words behind the maker count, and none in front of the size.
    """
    last = name.rstrip("/").rpartition("/")[2]
    return next((scheme for pattern, scheme in _SCHEMES if pattern.search(last)), None)
