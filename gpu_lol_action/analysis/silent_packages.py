"""Packages that nobody imports and transformers asks for when it is too late.

Its ``Trainer`` and ``device_map`` do not start without accelerate, weights in 8 and 4 bit and its paged optimizers not without
bitsandbytes. pip installs the one with ``transformers[torch]`` and neither with ``transformers``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.dead_branches import dead_lines
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.import_graph import import_closure
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.analysis.python_defaults import Call
from gpu_lol_action.analysis.settings import values_of
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
_BITS = frozenset({"load_in_8bit", "load_in_4bit"})
_OPTIMIZERS = regex(r"8bit|paged_|bnb")
_OPTIMIZER_KEYS = ("optim", "--optim")
_FIRST = Version("4.30")
"""The first transformers whose trainer is made of it."""


def silent_packages(
    checkout: Checkout, run: Run | None, requirements: Collection[str], own: Collection[str]
) -> list[Finding]:
    """Return what the run needs of these and nothing that is installed brings.

    ``requirements`` are those found so far, as pip takes them, ``own`` the names of the checkout's own packages.
    """
    names = {package_name(text) for text in requirements}
    if run is None or run.script is None or "transformers" not in names or "transformers" in own:
        return []
    found: list[Finding] = []
    is_brought = _BRINGING & {*names, *own} or any(_brings(text) or _is_old(text) for text in requirements)
    for source in import_closure(checkout, run.script) if not is_brought else ():
        found += [_needed("accelerate", name, Evidence(source.path, line)) for name, line in _uses(source)]
    quantized = _quantized(checkout, run) if "bitsandbytes" not in {*names, *own} else None
    return [*found[:1], *([_needed("bitsandbytes", *quantized)] if quantized is not None else ())]


def _needed(package: str, name: str, where: Evidence) -> Finding:
    why = f"transformers' `{name}` needs it and no list names it"
    return Finding("dependencies.requirements", package, why, Confidence.HIGH, where)


def _quantized(checkout: Checkout, run: Run) -> tuple[str, Evidence] | None:
    """Return the optimizer that the command names, or the bits that a loader is told, where the run surely comes."""
    optimizer = next((run.options[key] for key in _OPTIMIZER_KEYS if key in run.options), "")
    if _OPTIMIZERS.search(optimizer):
        return optimizer, run.evidence
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        if source.code is None or not source.mentions("load_in_"):
            continue
        calls = [call for call in source.code.calls_named(*_LOADERS, "BitsAndBytesConfig") if _bits(call)]
        dead = dead_lines(source, values_of(checkout, run)) if calls else ()
        alive = [call for call in calls if not any(call.line in block for block in dead)]
        if alive:
            return _bits(alive[0]), Evidence(source.path, alive[0].line)
    return None


def _bits(call: Call) -> str:
    return next((key for key, value in call.keywords if key in _BITS and value.text == "True"), "")


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
