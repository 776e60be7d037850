"""Servers of models that take their options from the environment as well: ``MODEL_ID=a/b`` is ``--model-id a/b``."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.domain.patterns import regex

# By server: what its variables begin with. Each has the option's own name in capitals (the servers' lists of options say so).
_PREFIXES = {"text-generation-launcher": "", "text-embeddings-router": "", "llama-server": "LLAMA_ARG_"}
_LENGTHS, _TIMES = ("max_model_len", "max_num_batched_tokens"), {"k": 1000, "K": 1024, "m": 1_000_000, "M": 1 << 20}
_IN_THOUSANDS = regex(r"(\d{1,6}(?:\.\d{1,3})?)([kKmM])")
_WITHOUT_PREFIX = frozenset({
    "MODEL_ID", "REVISION", "NUM_SHARD", "QUANTIZE", "DTYPE", "KV_CACHE_DTYPE", "MAX_INPUT_TOKENS", "MAX_INPUT_LENGTH",
    "MAX_TOTAL_TOKENS", "MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS", "MAX_BATCH_TOKENS", "MAX_BATCH_SIZE",
    "MAX_CONCURRENT_REQUESTS", "CUDA_MEMORY_FRACTION",
})  # fmt: skip


def in_plain_numbers(tool: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return what vLLM is told in thousands as plain numbers: ``--max-model-len 16K`` is 16384, ``16k`` is 16000 (its manual)."""
    found = {name: _IN_THOUSANDS.fullmatch(options[name]) for name in _LENGTHS if tool == "vllm" and name in options}
    return {name: str(int(float(each[1]) * _TIMES[each[2]])) for name, each in found.items() if each is not None}


def told_by_variables(tool: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the options that a server finds in its environment; what its command says itself goes before them."""
    prefix = _PREFIXES.get(tool)
    if prefix is None:
        return {}
    return {
        name.removeprefix(prefix).lower(): value
        for name, value in variables.items()
        if (name.startswith(prefix) if prefix else name in _WITHOUT_PREFIX) and not is_secret(name, value)
    }
