"""Accelerate, which nobody imports and transformers asks for: its ``Trainer`` refuses to start without it, and so does ``device_map``.

pip installs it with ``transformers[torch]`` and not with ``transformers``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.import_graph import import_closure
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "TrainingArguments", "Seq2SeqTrainingArguments"})
_DOTTED = regex(r"\btransformers\.(?:Seq2Seq)?Train(?:er|ingArguments)\b")
_NO_WEIGHTS = regex(r"onfig|okeniz|rocessor|xtractor")
_TABLE = regex(r"device_map\s?=\s?\{")  # a table's text is not known, and neither is that of `None`
_LOADERS = ("from_pretrained", "pipeline")
_BRINGING = frozenset({"accelerate", "peft", "trl", "ms-swift", "llamafactory", "axolotl", "unsloth", "unsloth-zoo", "openrlhf", "verl",
                       "autotrain-advanced"})  # fmt: skip
_EXTRAS = frozenset({"torch", "accelerate", "deepspeed", "all", "train"})
_FIRST = Version("4.30")
"""The first transformers whose trainer is made of it."""


def accelerate_finding(
    checkout: Checkout, run: Run | None, requirements: Collection[str], own: Collection[str]
) -> list[Finding]:
    """Return accelerate where the run needs it and nothing that is installed brings it.

    ``requirements`` are those found so far, as pip takes them, ``own`` the names of the checkout's own packages.
    """
    if run is None or run.script is None or any(_brings(text) for text in requirements):
        return []
    if (_BRINGING | {"transformers"}) & set(own) or any(_is_old(text) for text in requirements):
        return []
    for source in import_closure(checkout, run.script):
        for name, line in _uses(source):
            why = f"transformers' `{name}` needs it and no list names it"
            return [
                Finding("dependencies.requirements", "accelerate", why, Confidence.HIGH, Evidence(source.path, line))
            ]
    return []


def _uses(source: Source) -> Iterator[tuple[str, int]]:
    """Yield what of transformers does not start without accelerate, with its line. No tree is built where neither word stands."""
    if source.code is None or not source.mentions("transformers"):
        return
    if source.mentions("Train"):
        for item in source.code.imports:
            taken = _TRAINERS & set(item.names) if item.module.split(".")[0] == "transformers" else frozenset[str]()
            if taken and not item.is_optional:
                yield min(taken), item.line
        said = _DOTTED.search(source.text) if "transformers" in source.code.imported() else None
        if said is not None:
            line = source.code.line_of_file(source.text.count("\n", 0, said.start()) + 1)
            yield said[0].partition(".")[2], line
    if source.mentions("device_map"):
        for call in source.code.calls_named(*_LOADERS):
            placed = call.keyword("device_map")
            is_given = placed is not None and (placed.text or placed.is_open or _TABLE.search(source.text))
            if is_given and not _NO_WEIGHTS.search(call.name):
                yield "device_map", call.line


def _brings(requirement: str) -> bool:
    name = package_name(requirement)
    if name in _BRINGING:
        return True
    read = _read(requirement) if name in {"transformers", "sentence-transformers"} else None
    return read is not None and bool(_EXTRAS & read.extras)


def _is_old(requirement: str) -> bool:
    """Whether a requirement is of transformers below the first that asks for accelerate."""
    read = _read(requirement) if package_name(requirement) == "transformers" else None
    return read is not None and any(_ends_before(each) for each in read.specifier)


def _ends_before(bound: Specifier) -> bool:
    try:
        version = Version(bound.version.removesuffix(".*"))
    except InvalidVersion:
        return False
    is_end = bound.operator in {"==", "===", "<", "<="} or (bound.operator == "~=" and len(version.release) > 2)
    return is_end and (version < _FIRST or (version == _FIRST and bound.operator == "<"))


def _read(requirement: str) -> Requirement | None:
    try:
        return Requirement(requirement)
    except InvalidRequirement:
        return None
