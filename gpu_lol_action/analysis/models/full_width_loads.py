"""Weights that lie at 32 bit because nobody said otherwise.

Before its fifth release transformers loaded every model at 32 bit unless a call says a number format, whatever the weights were
published with: 24 GiB for a model of six billion parameters, not 12. Only a program that nowhere speaks of 16 bit, of quantization
or of a server's engine is taken at its word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.read_requirements import read_requirement

FIELD = "model.loaded_wide"
MAX_MODULES = 20
# The first release that loads weights as they are published, and one of torch that it no longer works with.
_TOO_NEW = {"transformers": "5", "torch": "2.1"}
_LANGUAGE_MODEL = regex(
    r"(?:^|\.)(?:AutoModelForCausalLM|AutoModelForSeq2SeqLM|\w{2,40}(?:ForCausalLM|LMHeadModel))\.from_pretrained$"
)
# What a program that speaks of it may do to the weights, by whatever way they get there.
_NARROWED = regex(
    r"dtype\b|\bhalf\(\)|float16|bfloat16|fp16|bf16|load_in_[48]bit|quantization_config|load_checkpoint_and_dispatch"
    r"|\b(?:ctransformers|auto_gptq|awq|optimum|intel_extension_for_\w{5,20})\b"
)


_TOLD_TO_KERAS = regex(r"dtype|floatx|float16|bfloat16|policy|quantize\(")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return a finding where the programs of a run that infers load a language model, and none of them says how wide."""
    if run is None or run.script is None:
        return []
    if (preset := _preset(run.script)) is not None:
        why = "Keras loads a preset at 32 bit unless it is told otherwise"
        found = [Finding("model.weight_bits", "32", why, Confidence.MEDIUM, preset)]
        trains = run.behavior is Behavior.TRAINS
        return [*found, replace(found[0], field="training.precision", value="fp32")] if trains else found
    if run.behavior is not Behavior.INFERS:
        return []
    where: Evidence | None = None
    for source in import_closure(checkout, run.script)[:MAX_MODULES]:
        loads = _loads(source)
        if loads and _NARROWED.search(source.text):
            return []
        where = where or (Evidence(source.path, loads[0]) if loads else None)
    why = "a language model is loaded, and nothing says a number format"
    return [Finding(FIELD, "32", why, Confidence.LOW, where)] if where is not None else []


def _preset(script: Source) -> Evidence | None:
    """Return where a program loads a preset of KerasHub's and nowhere says a number format."""
    calls = script.code.calls_named("from_preset") if script.code is not None else ()
    if not calls or _TOLD_TO_KERAS.search(script.text):
        return None
    return Evidence(script.path, calls[0].line)


@remembered
def _loads(source: Source) -> tuple[int, ...]:
    """Return the lines on which a program loads a language model."""
    calls: Iterable[Call] = source.code.calls_named("from_pretrained") if source.code is not None else ()
    return tuple(call.line for call in calls if _LANGUAGE_MODEL.search(call.name))


def is_wide(findings: Iterable[Finding]) -> bool:
    """Whether a model is loaded so, with a release of the library that does it."""
    known = tuple(findings)
    if best(known, FIELD) is None:
        return False
    return any(_is_before(f.value) for f in known if f.field == "dependencies.requirements")


def _is_before(text: str) -> bool:
    """Whether a requirement allows no release of transformers that loads weights as they are published."""
    if not text.startswith(tuple(_TOO_NEW)):
        return False
    asked = read_requirement(text)
    if asked is None:
        return False
    first = _TOO_NEW.get(asked.name)
    bounds = [each.version.removesuffix(".*") for each in asked.specifier if each.operator in _BOUNDS]
    if first is None or not bounds:
        return False
    from packaging.version import Version

    return any(Version(bound) <= Version(first) for bound in bounds)


_BOUNDS = frozenset({"==", "<", "<=", "~="})
