"""The shape of a model in Megatron-LM's flags, which build it: inner width, key-value heads, experts, gates, and a vocabulary by its tokenizer.

Findings: ``model.feed_forward``, ``model.kv_heads``, ``model.experts``, ``model.experts_used``, ``model.is_gated``,
``model.is_untied``, and ``model.vocabulary`` where no number says it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.model_facts import find_model

_NUMBERS = {
    "ffn_hidden_size": "model.feed_forward",
    "num_query_groups": "model.kv_heads",
    "num_experts": "model.experts",
    "moe_router_topk": "model.experts_used",
}
_SWITCHES = {"swiglu": "model.is_gated", "untie_embeddings_and_output_weights": "model.is_untied"}
# The vocabularies of Megatron-LM's tokenizers that are of one size: GPT-2's, Llama 2's, Llama 3's, BERT's.
_VOCABULARIES = {
    "gpt2bpetokenizer": 50_304,
    "llama2tokenizer": 32_000,
    "llama3tokenizer": 128_256,
    "bertwordpiecelowercase": 30_592,
    "bertwordpiececase": 29_056,
}


def shape_of_flags(said: list[Setting]) -> Iterator[Finding]:
    """Yield what the flags of a model say besides its layers, width and heads; nothing where they build none."""
    keys = {setting.key: setting for setting in reversed(said)}
    if not {"num_layers", "hidden_size"} <= keys.keys():
        return
    for key, field in _NUMBERS.items():
        setting = keys.get(key)
        number = as_number(setting.text) if setting is not None else None
        if setting is not None and number is not None and number > 0:
            yield Finding(field, str(number), f"`{key}` is {number}", Confidence.HIGH, setting.evidence)
    for key, field in _SWITCHES.items():
        setting = keys.get(key)
        if setting is not None and setting.text.strip().lower() in {"", "true", "1"}:
            yield Finding(field, "yes", f"`{key}` is on", Confidence.HIGH, setting.evidence)
    if "vocab_size" not in keys and "padded_vocab_size" not in keys:
        yield from _vocabulary(keys)


def _vocabulary(keys: dict[str, Setting]) -> Iterator[Finding]:
    """Yield the vocabulary of the tokenizer that is named: of a kind that has one size, or a published model's."""
    kind, named = keys.get("tokenizer_type"), keys.get("tokenizer_model")
    model = find_model(named.text) if named is not None and "/" in named.text else None
    if model is not None and model.vocabulary and named is not None:
        why = f"`tokenizer_model` is that of {model.name}"
        yield Finding("model.vocabulary", str(model.vocabulary), why, Confidence.MEDIUM, named.evidence)
        return
    size = _VOCABULARIES.get(kind.text.strip().lower()) if kind is not None else None
    if size is not None and kind is not None:
        why = f"`tokenizer_type` is {kind.text}"
        yield Finding("model.vocabulary", str(size), why, Confidence.MEDIUM, kind.evidence)
