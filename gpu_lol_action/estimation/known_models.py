"""The table of known models, ``data/model_params.csv`` (sources in ``data/SOURCES.md``): by id, and by what others call them.

A repository names a few of its nine hundred: a row is read when it is asked for.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.tables import table_text

# What quantizers, trainers and mirrors add to a model's name without changing its size.
_SUFFIXES = regex(
    r"(?:-(?:hf|chat|instruct|thinking|it|base|bnb-4bit|unsloth-bnb-4bit|unsloth|gptq(?:-int[48])?|awq|gguf|fp8|fp16|bf16|int4|int8|4bit|8bit|delta))+$",
    re.IGNORECASE,
)


@record(frozen=True, slots=True)
class ModelFacts:
    """Size and shape of a model. Parameters in billions; shape fields are 0 where unknown. ``source`` says from where.

    ``active_parameters_b`` is what a mixture of experts uses per token, ``feed_forward`` the inner width of a layer's MLP
    (of one expert); 0 where it is not known or no mixture.
    """

    name: str
    kind: str
    parameters_b: float
    hidden_size: int = 0
    layers: int = 0
    attention_heads: int = 0
    kv_heads: int = 0
    vocabulary: int = 0
    source: str = "table"
    note: str = ""
    active_parameters_b: float = 0.0
    feed_forward: int = 0

    @property
    def has_shape(self) -> bool:
        """Whether activations can be computed."""
        return self.hidden_size > 0 and self.layers > 0

    @property
    def published_gb(self) -> float | None:
        """GPU memory in GB that the model's own card says it needs for inference, where the table notes it."""
        found = regex(r"needs about (\d+(?:\.\d+)?) GB VRAM").search(self.note)
        return float(found[1]) if found else None

    @property
    def embedding_b(self) -> float:
        """Parameters in billions of embeddings and head, which quantizers leave alone."""
        return min(2 * self.vocabulary * self.hidden_size / 1e9, self.parameters_b * 0.5)


@functools.lru_cache(maxsize=1024)
def model_of_id(asked: str) -> ModelFacts | None:
    """Return the model of an id (``owner/name``, small letters); None where the table has none of it."""
    line = _lines().get(asked)
    return _read(line) if line is not None else None


@functools.lru_cache(maxsize=4096)
def model_of_last_word(word: str) -> ModelFacts | None:
    """Return the first model of the table whose name without owner and suffixes is this word; None where none is."""
    if not word or f"\n{word}" not in _text_of_names():
        return None
    keys = (key for begins, key in _names() if begins.startswith(word) and word in _called(key))
    return next((model_of_id(key) for key in keys), None)


@functools.cache
def known_models() -> Mapping[str, ModelFacts]:
    """Return the whole table by id in small letters, in its order."""
    return {key: _read(line) for key, line in _lines().items()}


@functools.cache
def _columns() -> tuple[str, ...]:
    return tuple(table_text("model_params.csv").partition("\n")[0].split(","))


@functools.cache
def _lines() -> Mapping[str, str]:
    lines = table_text("model_params.csv").splitlines()[1:]
    return {line.partition(",")[0].lower(): line for line in lines}


@functools.cache
def _names() -> tuple[tuple[str, str], ...]:
    """Return what each model may be called by begins with, and its id: once more for names that some write without ``meta-``."""
    found: list[tuple[str, str]] = []
    for key in _lines():
        last = key.rpartition("/")[2].replace("_", "-")
        found.append((last, key))
        if last.startswith("meta-"):
            found.append((last.removeprefix("meta-"), key))
    return tuple(found)


@functools.cache
def _text_of_names() -> str:
    return "\n" + "\n".join(begins for begins, _ in _names())


@functools.lru_cache(maxsize=1024)
def _called(key: str) -> tuple[str, ...]:
    last = key.rpartition("/")[2]
    bare = without_suffixes(last)
    released = (bare[:-5],) if regex(r"-\d{4}$").search(last) else ()  # a date of release: siblings have the same size
    return bare, without_suffixes(last.removeprefix("meta-")), *released


def without_suffixes(name: str) -> str:
    """Return a last word without suffixes, with one kind of dash; timm's training recipe behind a dot goes too.

    It stands behind an architecture, whose name has a number or several parts (``resnet50.a1_in1k``): ``dots.llm1.inst`` is a whole name.
    """
    plain = regex(r"(?<=[\d-])(?P<rest>[a-z]*)\.[a-z][\w.-]*$").sub(r"\g<rest>", name.replace("_", "-"))
    return _SUFFIXES.sub("", plain)


def _read(line: str) -> ModelFacts:
    (cells,) = csv.reader([line])
    row = dict(zip(_columns(), cells, strict=True))

    def whole(key: str) -> int:
        return int(float(row[key])) if row[key] else 0

    heads = whole("attention_heads")
    return ModelFacts(
        name=row["model_id"],
        kind=row["type"],
        parameters_b=float(row["total_params_b"]),
        hidden_size=whole("hidden_size"),
        layers=whole("layers"),
        attention_heads=heads,
        kv_heads=whole("kv_heads") or heads,
        vocabulary=whole("vocab_size"),
        note=row["note"],
        active_parameters_b=float(row["active_params_b"] or 0),
    )
