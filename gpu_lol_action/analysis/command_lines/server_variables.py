"""Servers of models that take their options from the environment as well: ``MODEL_ID=a/b`` is ``--model-id a/b``."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.command_lines.container_words import is_secret

# By server: what its variables begin with. Each has the option's own name in capitals (the servers' lists of options say so).
_PREFIXES = {"text-generation-launcher": "", "text-embeddings-router": "", "llama-server": "LLAMA_ARG_"}
_WITHOUT_PREFIX = frozenset({
    "MODEL_ID", "REVISION", "NUM_SHARD", "QUANTIZE", "DTYPE", "KV_CACHE_DTYPE", "MAX_INPUT_TOKENS", "MAX_INPUT_LENGTH",
    "MAX_TOTAL_TOKENS", "MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS", "MAX_BATCH_TOKENS", "MAX_BATCH_SIZE",
    "MAX_CONCURRENT_REQUESTS", "CUDA_MEMORY_FRACTION",
})  # fmt: skip


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
