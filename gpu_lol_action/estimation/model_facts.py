"""How large a model is: from the bundled table, from its name, or from a shape that code or a config.json states.

The table is that of ``known_models.py``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import (
    ModelFacts,
    known_models,
    model_of_id,
    model_of_last_word,
    without_suffixes,
)
from gpu_lol_action.estimation.media_facts import find_network, find_pipeline
from gpu_lol_action.estimation.ollama_names import published_names, size_of_tag
from gpu_lol_action.estimation.tuned_names import known_part

_SIZE = regex(r"(?:^|[-_/. x])(\d{1,4}(?:[._]\d{1,3})?)\s?([bm])(?=$|[-_./ ])", re.IGNORECASE)
_POINT_SIZE = regex(
    r"(?:^|[-_/. ])(\d{1,2})b(\d{1,2})(?=$|[-_./ ])", re.IGNORECASE
)  # BLOOM's and RWKV's: 7b1 are 7.1 billion
_EXPERTS = regex(r"(\d{1,3})x(\d{1,3}(?:\.\d+)?)b", re.IGNORECASE)
_SHAPE_NAME = regex(r"[\w.-]{0,60}L-(\d{1,2})_H-(\d{2,4})(?:_A-(\d{1,3}))?[\w.-]{0,40}")
_ACTIVE = regex(r"[-_]a(\d{1,3}(?:\.\d{1,2})?)b(?=$|[-_./])", re.IGNORECASE)  # what a mixture uses per token: 30B-A3B
MOST_WORDS = 12
SMALL_B, LARGE_B = (
    2,
    20,
)  # billions of parameters below and from which a shape of today is taken where nothing tells one
USUAL_WORDS = 160_000  # of a vocabulary
# What is tuned by many and comes in named sizes.
_TUNED_KINDS = frozenset({"encoder", "embedding", "reranker", "seq2seq", "audio", "asr", "vision"})
# Experts share attention and embeddings: Mixtral 8x7B holds 46.7 B, 8x22B 140.6 B, 0.80 to 0.83 of the product.
_EXPERT_SHARE = 0.83
_FAMILIES = regex(r"llama|qwen|mistral|mixtral|gemma|phi|gpt|opt|falcon|bloom|pythia|vicuna|glm|yi|deepseek|mpt|olmo|"
                       r"stablelm|baichuan|internlm|mamba|rwkv|t5|bert|vit|clip|zephyr|smollm|granite|starcoder|coder|"
                       r"wizard|alpaca|llava|nemotron|command|dolly|orca|tulu|cerebras|exaone|solar|minicpm", re.IGNORECASE)  # fmt: skip
# Short names under which libraries load models that the table has under their full id.
_SHORT_NAMES = {
    "turbo": "openai/whisper-large-v3-turbo", "large-v3": "openai/whisper-large-v3", "large-v2": "openai/whisper-large-v2",
    "runwayml/stable-diffusion-v1-5": "stable-diffusion-v1-5/stable-diffusion-v1-5",
    "gpt2": "openai-community/gpt2", "gpt2-medium": "openai-community/gpt2-medium", "gpt2-large": "openai-community/gpt2-large",
    "gpt2-xl": "openai-community/gpt2-xl", "gpt2-xlarge": "openai-community/gpt2-xl", "gpt2-base": "openai-community/gpt2", "bert-base-uncased": "google-bert/bert-base-uncased",
    "roberta-base": "FacebookAI/roberta-base", "t5-small": "google-t5/t5-small", "t5-base": "google-t5/t5-base",
    "decapoda-research/llama-7b-hf": "huggyllama/llama-7b",
    "tinyllama/tinyllama_v1.1": "TinyLlama/TinyLlama-1.1B-Chat-v1.0", "lnl-ai/dbrx-base-converted-v2": "databricks/dbrx-instruct",
    "ai21labs/ai21-jamba-1.5-mini": "ai21labs/Jamba-v0.1", "nanonets/nanonets-ocr-s": "Qwen/Qwen2.5-VL-3B-Instruct",
    "reducto/rolmocr": "Qwen/Qwen2.5-VL-7B-Instruct", "vidore/colqwen2-v1.0": "Qwen/Qwen2-VL-2B-Instruct",
    "amazon/mistrallite": "mistralai/Mistral-7B-v0.1", "prosusai/finbert": "google-bert/bert-base-uncased",
    "dmis-lab/biobert-v1.1": "google-bert/bert-base-uncased", "llm360/amber": "huggyllama/llama-7b",
    # Files of weights as their makers called them, which trainers and user interfaces are handed.
    "sd_xl_base_1.0": "stabilityai/stable-diffusion-xl-base-1.0", "v1-5-pruned-emaonly": "stable-diffusion-v1-5/stable-diffusion-v1-5",
    "v1-5-pruned": "stable-diffusion-v1-5/stable-diffusion-v1-5", "sd-v1-4": "CompVis/stable-diffusion-v1-4",
    "flux1-dev": "black-forest-labs/FLUX.1-dev", "flux1-schnell": "black-forest-labs/FLUX.1-schnell",
    "sd3.5_large": "stabilityai/stable-diffusion-3.5-large", "sd3_medium": "stabilityai/stable-diffusion-3-medium-diffusers",
}  # fmt: skip


def find_model(name: str) -> ModelFacts | None:
    """Return what is known of a model by its id or short name: from the tables, else from the size in its name."""
    name = name.replace("___", ".")  # ModelScope's folders: `Qwen2___5-Coder-1___5B`
    if ":" in name and (served := _of_ollama(name)) is not None:
        return served
    return (
        _in_table(name)
        or _version_of(name)
        or _of_folder(name)
        or _counted(name)
        or _of_pipeline(name)
        or _tuned(name)
        or _from_name(name)
    )


def _of_ollama(name: str) -> ModelFacts | None:
    """Return the model that a name of Ollama's library means (``llama3.1:70b``): of the tables, else of the size that its tag says."""
    named = list(published_names(name))
    known = next((facts for each in named if (facts := _in_table(each)) is not None), None)
    size = size_of_tag(name)
    if known is not None or size is None:
        return known or next((facts for each in named if (facts := find_model(each)) is not None), None)
    rough = _from_name(f"llama-{size}")
    return replace(rough, name=name) if rough is not None else None


def shape_in_name(text: str) -> str | None:
    """Return the part of a path that says a transformer's shape as BERT's authors name theirs: ``uncased_L-12_H-768_A-12``."""
    found = _SHAPE_NAME.search(text[:400])
    return found[0].strip("/") if found is not None else None


def _of_folder(name: str) -> ModelFacts | None:
    found = _SHAPE_NAME.search(name[:400])
    if found is None:
        return None
    layers, hidden = int(found[1]), int(found[2])
    if not (1 <= layers <= 96 and 64 <= hidden <= 8192):
        return None
    vocabulary = 21_128 if "chinese" in name.lower() else 30_522  # of BERT's published models
    facts = shape_model(
        found[0].strip("/"),
        layers=layers,
        hidden_size=hidden,
        vocabulary=vocabulary,
        heads=int(found[3] or hidden // 64),
    )
    return replace(facts, kind="encoder")


def is_known_model(name: str) -> bool:
    """Whether the tables themselves have the model."""
    return _in_table(name) is not None or _counted(name) is not None


def _counted(name: str) -> ModelFacts | None:
    """Return a network for pictures, video or sound whose layers were counted; parts of pipelines are no model by themselves."""
    network = find_network(name)
    if network is None or network.family in {"unet", "dit"} or len(name.strip()) < 4:
        return None
    return ModelFacts(network.name, network.family, round(network.parameters_m / 1000, 6))


def _of_pipeline(name: str) -> ModelFacts | None:
    """Return the diffusion pipeline that an id of the Hub is a version of."""
    pipeline = find_pipeline(name) if name.count("/") == 1 and not name.startswith((".", "/")) else None
    if pipeline is None:
        return None
    kind = "diffusion-video" if pipeline.frames > 1 else "diffusion-image"
    return ModelFacts(name.strip(), kind, pipeline.parameters_m / 1000, note=f"the parts of {pipeline.name}")


def shape_model(name: str, *, layers: int, hidden_size: int, vocabulary: int, heads: int = 0) -> ModelFacts:
    """Return a transformer of that shape: 12 x layers x hidden² and the vocabulary (GPT-2 small: 12 x 768, 124 M)."""
    parameters = (12 * layers * hidden_size**2 + vocabulary * hidden_size) / 1e9
    return ModelFacts(name, "llm", rounded_b(parameters), hidden_size, layers, heads, heads, vocabulary, "shape")


def rounded_b(parameters_b: float) -> float:
    """Return billions of parameters with four places; those of a few thousand, which these would make none, to one parameter."""
    return round(parameters_b, 4) or round(parameters_b, 9)


def _in_table(name: str) -> ModelFacts | None:
    asked = name.strip().strip("/").lower()
    asked = _SHORT_NAMES.get(_stem(asked), asked).lower()
    if (known := model_of_id(asked)) is not None:
        return known
    last = without_suffixes(asked.rsplit("/", 1)[-1])
    return model_of_last_word(last) or model_of_last_word(regex(r"-\d{4}$").sub("", last))


def _stem(name: str) -> str:
    """Return what a file of weights is called (``models/flux1-dev.safetensors``); any other name as it is."""
    head, dot, end = name.rpartition(".")
    return head.rpartition("/")[2] if dot and end in {"safetensors", "ckpt"} else name


def _version_of(name: str) -> ModelFacts | None:
    """Return a known model of which a name goes on, whose own says its size: ``Llama-4-Scout-17B-16E-Linearized-nf4``.

    Not where the rest says another size: a part, or a merge.
    """
    last = name.strip().strip("/").lower()[:200].rpartition("/")[2].replace("_", "-")
    words = last.split("-")
    for count in range(len(words) - 1, 1, -1):
        known = model_of_last_word("-".join(words[:count])) if count < MOST_WORDS else None
        if known is not None and known.has_shape and _says_size("-".join(words[:count])):
            rest = "-".join(words[count:])
            return None if _says_size(rest) else replace(known, name=name.strip(), note=f"a version of {known.name}")
    return None


def _tuned(name: str) -> ModelFacts | None:
    """Return the known encoder, or its like, that an id of the Hub is a fine-tuned version of (``deepset/roberta-base-squad2``)."""
    if name.count("/") != 1 or name.startswith((".", "/", "~")) or _says_size(name):
        return None
    part = known_part(name, _tunable_names())
    return replace(_tunable()[part], name=name.strip(), note=f"a version of {_tunable()[part].name}") if part else None


@functools.cache
def _tunable_names() -> frozenset[str]:
    return frozenset(_tunable())


@functools.cache
def _tunable() -> Mapping[str, ModelFacts]:
    """Return what is tuned under its own name, by that name without its owner; the first row of the file wins."""
    rows = tuple(known_models().items())[::-1]
    return {key.rpartition("/")[2].replace("_", "-"): facts for key, facts in rows if facts.kind in _TUNED_KINDS}


def _says_size(text: str) -> bool:
    return any(pattern.search(text) is not None for pattern in (_SIZE, _EXPERTS, _POINT_SIZE))


def _from_name(name: str) -> ModelFacts | None:
    """Return a model of the size that its name says (``7b``, ``8x7b``, ``350m``), in the shape of the nearest known one."""
    bare = name.strip()[:200]
    is_file = regex(r"\.(?:json|jsonl|txt|csv|py|ya?ml|parquet|bin|pt|pth|tar|gz|zip|md)$", re.IGNORECASE).search(bare)
    if is_file or not (_FAMILIES.search(bare) or "/" in bare):
        return None
    if experts := _EXPERTS.search(bare):
        size = float(experts[1]) * float(experts[2]) * _EXPERT_SHARE
    else:
        sizes = [(float(m[1].replace("_", ".")), m[2].lower()) for m in _SIZE.finditer(bare)]
        sizes += [(float(f"{m[1]}.{m[2]}"), "b") for m in _POINT_SIZE.finditer(bare)]
        if not sizes:
            return None
        number, unit = sizes[0]
        size = number if unit == "b" else number / 1000
    if not 0.001 <= size <= 2000:
        return None
    near = _nearest_shape(bare, size)
    active = _ACTIVE.search(bare)
    return ModelFacts(bare, "llm", size, near.hidden_size, near.layers, near.attention_heads, near.kv_heads, near.vocabulary,
                      "name", f"shape taken from {near.name}", float(active[1]) if active else 0.0)  # fmt: skip


@functools.lru_cache(maxsize=2048)
def _families(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _FAMILIES.findall(name))


def _nearest_shape(name: str, size: float) -> ModelFacts:
    """Return the known language model nearest in size; one of the same family or owner where its size is within a quarter.

    Of small and large ones without a family it is one whose heads share their keys: since 2023 hardly any other is made. A vocabulary of a
    quarter of a million words, as BLOOM and Gemma have, is only those families' own: it would be most of what a training keeps.
    """
    families, owner = _families(name), name.rpartition("/")[0].lower()

    def distance(facts: ModelFacts) -> tuple[bool, bool, bool, float, str]:
        is_kin = bool(families & _families(facts.name)) or owner == facts.name.rpartition("/")[0].lower()
        is_grouped = facts.kv_heads < facts.attention_heads or SMALL_B <= size < LARGE_B
        off = abs(facts.parameters_b - size)
        is_near = off <= size / 4
        is_usual = facts.vocabulary <= USUAL_WORDS
        return not (is_kin and is_near), not (is_grouped and is_near), not (is_usual and is_near), off, facts.name

    known = (facts for facts in known_models().values() if facts.kind == "llm" and facts.has_shape)
    return min(known, key=distance)
