"""What the Hugging Face Hub says of a model, read: parameters, shape, quantization, and the base of an adapter.

Everything here was written by strangers: a field of a wrong type or an impossible size counts as not said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpu_lol_action.domain.lookup import HubFields
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model, rounded_b
from gpu_lol_action.estimation.parameter_count import Shape, count_parameters

# The Hub's own rule for ids (huggingface_hub, validate_repo_id), with an owner: a bare word may mean anything.
_WORD = r"[A-Za-z0-9](?:[\w.-]{0,94}[A-Za-z0-9_])?"
_HUB_ID = regex(rf"{_WORD}/{_WORD}", re.ASCII)
# Folders that people write in front of a local checkpoint: no owners of models.
_FOLDERS = frozenset({
    "data", "datasets", "dataset", "model", "models", "weights", "checkpoint", "checkpoints", "ckpt", "ckpts", "output", "outputs",
    "out", "result", "results", "runs", "logs", "exp", "experiments", "pretrained", "pretrained_models", "path", "tmp", "work_dirs",
})  # fmt: skip
_MIN_PARAMETERS, _MAX_PARAMETERS = 1e5, 1e13
# A count from the shape that is this near to the weights' own leaves out norms, biases and position tables only.
_AGREES = 0.25

_TEXT_PARTS = ("text_config", "language_config", "llm_config", "text_model_config", "thinker_config", "decoder")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "depth"),
    "hidden": ("hidden_size", "n_embd", "d_model", "dim", "embed_dim", "model_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"),
    "kv_heads": ("num_key_value_heads", "n_head_kv", "num_kv_heads", "multi_query_group_num", "n_kv_heads"),
    "vocabulary": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "ffn": ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff", "decoder_ffn_dim", "hidden_dim"),
    "head_size": ("head_dim",),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    "expert_ffn": ("moe_intermediate_size", "expert_intermediate_size"),
    "shared_experts": ("n_shared_experts", "num_shared_experts"),
    "shared_ffn": ("shared_expert_intermediate_size",),
    "dense_layers": ("first_k_dense_replace",),
    "encoder_layers": ("encoder_layers",),
    "q_rank": ("q_lora_rank",),
    "kv_rank": ("kv_lora_rank",),
    "rope_size": ("qk_rope_head_dim",),
    "nope_size": ("qk_nope_head_dim",),
    "value_size": ("v_head_dim",),
}
_HIGHEST: Mapping[str, int] = {"vocabulary": 10_000_000, "ffn": 10_000_000, "hidden": 1_000_000}

_BY_TASK: Mapping[str, str] = {
    "text-generation": "llm", "image-text-to-text": "vlm", "video-text-to-text": "vlm", "visual-question-answering": "vlm",
    "any-to-any": "omni", "fill-mask": "encoder", "text-classification": "encoder", "token-classification": "encoder",
    "question-answering": "encoder", "zero-shot-classification": "encoder", "feature-extraction": "embedding",
    "sentence-similarity": "embedding", "text-ranking": "reranker", "text2text-generation": "seq2seq", "translation": "seq2seq",
    "summarization": "seq2seq", "automatic-speech-recognition": "asr", "audio-classification": "audio", "text-to-speech": "tts",
    "text-to-audio": "audio-gen", "image-classification": "vision", "image-feature-extraction": "vision",
    "zero-shot-image-classification": "vision-text", "object-detection": "detection", "zero-shot-object-detection": "detection",
    "image-segmentation": "segmentation", "mask-generation": "segmentation", "depth-estimation": "depth",
    "video-classification": "video", "text-to-image": "diffusion-image", "image-to-image": "diffusion-image",
    "text-to-video": "diffusion-video", "image-to-video": "diffusion-video", "time-series-forecasting": "timeseries",
}  # fmt: skip


@record(frozen=True, slots=True)
class HubModel:
    """A model as the Hub describes it. ``weight_bits`` is set where its files are quantized."""

    facts: ModelFacts
    weight_bits: int | None = None


def is_hub_id(name: str) -> bool:
    """Whether a name is an ``owner/model`` that the Hub may be asked for; what looks like a local path is none."""
    return (
        _HUB_ID.fullmatch(name) is not None
        and ".." not in name
        and "--" not in name
        and not name.endswith(".git")
        and name.partition("/")[0].lower() not in _FOLDERS
    )


def adapter_base(info: HubFields, adapter_config: HubFields | None) -> str | None:
    """Return the id of the model that an adapter (LoRA) is laid over, where it is one of the Hub's."""
    peft = _mapping(_mapping(info, "config"), "peft")
    for fields in (adapter_config or {}, peft):
        base = fields.get("base_model_name_or_path")
        if isinstance(base, str) and is_hub_id(base.strip()):
            return base.strip()
    return None


def is_adapter(info: HubFields) -> bool:
    """Whether the Hub counts a repository as an adapter over another model."""
    return info.get("library_name") == "peft" or bool(_mapping(_mapping(info, "config"), "peft"))


def read_model(name: str, info: HubFields, config: HubFields | None) -> HubModel | None:
    """Return size and shape of a model from the Hub's information and its config.json; None where neither says a size."""
    fields = config or {}
    text = _text_part(fields)
    numbers = {key: _whole(text, fields, key) for key in _KEYS}
    shape = _shape(numbers, text, fields)
    bits = _weight_bits(fields) or _weight_bits(_mapping(info, "config"))
    counted = count_parameters(shape) if shape else None
    parameters = _stated(info, bits, counted)
    if parameters is None:
        return None
    kind = _kind(info, fields, is_mixture=numbers["experts"] > 1)
    facts = ModelFacts(
        name=name,
        kind=kind,
        parameters_b=rounded_b(parameters / 1e9),
        hidden_size=numbers["hidden"],
        layers=numbers["layers"],
        attention_heads=numbers["heads"],
        kv_heads=numbers["kv_heads"] or numbers["heads"],
        vocabulary=numbers["vocabulary"],
        source="hub",
        feed_forward=(numbers["expert_ffn"] if numbers["experts"] > 1 else 0) or numbers["ffn"],
    )
    return HubModel(facts if facts.has_shape else _borrowed_shape(facts), bits)


def _borrowed_shape(facts: ModelFacts) -> ModelFacts:
    """Return a language model behind a gate with the shape of its kin: its size is public, its config.json is not."""
    if not facts.kind.startswith(("llm", "vlm")):
        return facts
    kin = find_model(f"{facts.name.rsplit('/', 1)[-1].split('-')[0]}-{facts.parameters_b:.1f}B".replace(".0B", "B"))
    if kin is None or not kin.has_shape:
        return facts
    return replace(facts, hidden_size=kin.hidden_size, layers=kin.layers, attention_heads=kin.attention_heads,
                   kv_heads=kin.kv_heads, vocabulary=kin.vocabulary, note=f"shape taken from {kin.note or kin.name}")  # fmt: skip


def _stated(info: HubFields, bits: int | None, counted: float | None) -> float | None:
    """Return the number of parameters: from the weights' own headers, for packed weights from the shape where there is one."""
    by_type = {
        str(name): count for name, count in _mapping(_mapping(info, "safetensors"), "parameters").items()
        if isinstance(count, int) and not isinstance(count, bool) and count > 0
    }  # fmt: skip
    stored = float(sum(by_type.values()))
    if bits is not None and stored:
        if counted and abs(counted / stored - 1) > _AGREES:
            return _possible(counted)
        # GPTQ and AWQ pack weights into 32-bit words, bitsandbytes into bytes; what is left as floats is what it is.
        packed = {"I32": 32 / bits, "U8": 8 / bits} if not counted else {}
        stored = added(count * packed.get(name, 1) for name, count in by_type.items())
    gguf = _mapping(info, "gguf").get("total")
    if not stored and isinstance(gguf, int) and not isinstance(gguf, bool):
        stored = float(gguf)
    return _possible(stored) or _possible(counted or 0)


def _possible(parameters: float) -> float | None:
    return parameters if _MIN_PARAMETERS <= parameters <= _MAX_PARAMETERS else None


def _text_part(fields: HubFields) -> HubFields:
    """Return the part that describes the language model, where a config nests several."""
    part = fields
    for _ in range(3):
        inner = next((_mapping(part, key) for key in _TEXT_PARTS if _mapping(part, key)), None)
        if inner is None:
            return part
        part = inner
    return part


def _shape(numbers: Mapping[str, int], text: HubFields, fields: HubFields) -> Shape | None:
    if not (numbers["layers"] and numbers["hidden"] and numbers["vocabulary"]):
        return None
    is_tied = text.get("tie_word_embeddings", fields.get("tie_word_embeddings"))
    return Shape(
        **numbers,
        is_gated=_is_gated(text),
        # transformers ties unless a config says otherwise, and writes down what differs from that.
        is_tied=is_tied if isinstance(is_tied, bool) else True,
        is_encoder_decoder=fields.get("is_encoder_decoder") is True,
    )


def _is_gated(text: HubFields) -> bool:
    """Whether the feed-forward part has three matrices: all since LLaMA do; those before name their activation otherwise."""
    act = text.get("hidden_act") or text.get("hidden_activation") or text.get("activation_function")
    is_glu = text.get("model_type") in {"gemma", "gemma2", "gemma3", "gemma3_text", "modernbert", "nomic_bert"}
    return (
        is_glu
        or (isinstance(act, str) and act.lower() in {"silu", "swish", "swiglu"})
        or text.get("is_gated_act") is True
    )


def _weight_bits(fields: HubFields) -> int | None:
    """Return 4 or 8 where the published weights are quantized (2 and 3 count as 4: the estimator has no less)."""
    settings = _mapping(fields, "quantization_config")
    if not settings:
        return None
    groups = _mapping(settings, "config_groups")
    weights = [_mapping(group, "weights") for group in groups.values() if isinstance(group, dict)]
    bits = [settings.get("bits"), settings.get("w_bit"), *(each.get("num_bits") for each in weights)]
    known = next((each for each in bits if isinstance(each, int) and not isinstance(each, bool)), None)
    method = str(settings.get("quant_method", "")).lower()
    if known is None:
        known = {"fp8": 8, "fbgemm_fp8": 8, "mxfp4": 4, "awq": 4, "gptq": 4}.get(method)
    if known is None and (settings.get("load_in_4bit") is True or settings.get("_load_in_4bit") is True):
        known = 4
    if known is None and (settings.get("load_in_8bit") is True or settings.get("_load_in_8bit") is True):
        known = 8
    if known is None or not 1 <= known <= 8:
        return None
    return 4 if known <= 4 else 8


def _kind(info: HubFields, fields: HubFields, *, is_mixture: bool) -> str:
    """Return the table's word for what a model is: by its architecture, else by the Hub's task, else a language model."""
    names = fields.get("architectures")
    names = names if isinstance(names, list) else _mapping(info, "config").get("architectures")
    name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    has_vision = bool(_mapping(fields, "vision_config")) or "visual" in fields
    kind = ""
    if fields.get("is_encoder_decoder") is True:
        kind = "asr" if "Speech" in name or "Whisper" in name else "seq2seq"
    elif has_vision:
        kind = "vision-text" if regex(r"(?:CLIP|Siglip|ChineseCLIP|Align)").match(name) else "vlm"
    elif name.endswith(("ForCausalLM", "LMHeadModel")):
        kind = "llm"
    elif name.endswith("ForMaskedLM"):
        kind = "encoder"
    elif name.endswith("ForImageClassification"):
        kind = "vision"
    task = info.get("pipeline_tag")
    kind = kind or _BY_TASK.get(task if isinstance(task, str) else "", "llm")
    return f"{kind}-moe" if is_mixture and kind in {"llm", "vlm", "omni"} else kind


def _mapping(fields: HubFields, key: str) -> Mapping[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def _whole(text: HubFields, fields: HubFields, key: str) -> int:
    """Return a number of the shape; 0 where none of its names holds a possible one."""
    for place in (text, fields):
        for name in _KEYS[key]:
            value = place.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _HIGHEST.get(key, 100_000):
                return value
    return 0
