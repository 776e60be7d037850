"""What a language model's answer may change, and within which bounds.

The model may have been talked into its answer by the very code that it read. So the answer is data: each value is held
against tables and against what the weights alone need, packages and images are never taken from it, and one value that
is out of bounds drops the whole answer.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

from gpu_lol_action.analysis.answer.differences import complete, file_of
from gpu_lol_action.domain.analysis import Analysis, Override
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import accelerators, find_accelerator
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.redaction import clean_text
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, WorkloadType

FLOOR_GB = 8
"""No card that is rented has less; a smaller answer is a mistake or a trick."""

CPU_GIB = 1.0
"""Weights that a processor runs well enough: smaller models are no reason to rent a card."""

MOST_CARDS = 8
MAX_ANSWER_CHARACTERS = 20_000
MAX_REASON_CHARACTERS = 300
MAX_MODEL_CHARACTERS = 60
_THOUGHTS = regex(r"<think>.*?</think>", re.DOTALL)
_FENCE = regex(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_QUOTES = str.maketrans({"`": "'", "“": "'", "”": "'"})
NOWHERE = Evidence("")


@record(frozen=True, slots=True)
class Advice:
    """A language model's answer, understood but not yet believed; None where it leaves a value alone."""

    workload: WorkloadType | None
    gpu_count: int | None
    vram_gb: int | None
    gpu_type: str | None
    reason: str


@record(frozen=True, slots=True)
class Refused:
    """Why an answer is not taken, as the end of a sentence."""

    what: str


def read_advice(text: str) -> Advice | Refused:
    """Return the values of an answer, or why it is none: types, names and numbers are checked here."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        return Refused("its answer is longer than an answer would be")
    fields = _object(text)
    if fields is None:
        return Refused("its answer is no JSON object")
    try:
        return Advice(
            workload=_workload(fields.get("workload_type")),
            gpu_count=_whole(fields.get("gpu_count"), "gpu_count"),
            vram_gb=_whole(fields.get("vram_required_gb"), "vram_required_gb"),
            gpu_type=_accelerator(fields.get("gpu_type")),
            reason=_reason(fields.get("reason")),
        )
    except _OutOfBoundsError as error:
        return Refused(str(error))


def write_advice(advice: Advice) -> str:
    """Return an answer that says the same and nothing else: ``read_advice`` gives the same values back."""
    return json.dumps(
        {
            "workload_type": advice.workload.value if advice.workload is not None else None,
            "vram_required_gb": advice.vram_gb,
            "gpu_count": advice.gpu_count,
            "gpu_type": advice.gpu_type,
            "reason": advice.reason,
        },
        ensure_ascii=False,
    )


def hints_of(advice: Advice, model: str) -> tuple[Finding, ...]:
    """Return the findings that stand for an answer while the code is assembled anew: they outweigh what was detected."""
    values = (
        ("workload", advice.workload.value if advice.workload else None),
        ("hardware.gpu_count", advice.gpu_count or None),
    )
    return tuple(
        Finding(field, str(value), claim(model, advice), Confidence.HIGH, NOWHERE)
        for field, value in values
        if value is not None
    )


def claim(model: str, advice: Advice) -> str:
    """Return the sentence that shows a reason as what it is: somebody's words, of which nothing was checked."""
    said = f": “{advice.reason}”" if advice.reason else ", without a reason"
    return f"the language model `{_one_line(model, MAX_MODEL_CHARACTERS)}` claims so{said}"


def apply_advice(
    before: Analysis, after: Analysis, advice: Advice, model: str, spec_text: str | None
) -> Analysis | Refused:
    """Return the analysis with an answer applied, or why the answer is not taken.

    ``before`` is what the code alone says; ``after`` is the same assembled with ``hints_of`` the answer, so that memory,
    image and disk follow from the workload and count that the model wants.
    """
    problem = _problem(before, after, advice)
    if problem is not None:
        return Refused(problem)
    proposed = after.proposed
    if proposed.needs_gpu:
        vram = advice.vram_gb or proposed.hardware.vram_required_gb
        needed = proposed.hardware.needed_gib if advice.vram_gb is None else None
        hardware = replace(proposed.hardware, vram_required_gb=vram, gpu_type=advice.gpu_type, needed_gib=needed)
        proposed = replace(proposed, hardware=hardware)
    changes = _changes(before.proposed, proposed)
    if not changes:
        return before
    sentence = claim(model, advice)
    told = tuple(Finding(key, now, f"{sentence}; the code alone says {was}", Confidence.LOW, NOWHERE)
                 for key, was, now in changes)  # fmt: skip
    file = file_of(spec_text)
    return replace(
        after,
        proposed=proposed,
        spec=complete(file, proposed) if file is not None else proposed,
        findings=(*told, *(finding for finding in after.findings if finding not in hints_of(advice, model))),
        # A claim is no reason to doubt the repository's own file: what disagrees with it is what the code says.
        differences=before.differences,
        override=Override(_one_line(model, MAX_MODEL_CHARACTERS), advice.reason, changes),
    )


class _OutOfBoundsError(Exception):
    """A value that no answer may have; its text is the end of a sentence."""


def _problem(before: Analysis, after: Analysis, advice: Advice) -> str | None:
    """Return the bound that an answer breaks."""
    if not after.proposed.needs_gpu:
        if _weights_gib(before) > CPU_GIB:
            return "it says that no GPU is needed, and the code loads a model onto one"
        return None
    card = accelerators()[advice.gpu_type] if advice.gpu_type else None
    vram = after.proposed.hardware.vram_required_gb if advice.vram_gb is None else advice.vram_gb
    vram = FLOOR_GB if vram is None else vram
    count = after.proposed.hardware.gpu_count
    weights = _least_weights_gib(after)
    if advice.gpu_count is not None and advice.gpu_count < 1:
        return "it says that no GPU is needed for a workload that needs one"
    if vram < FLOOR_GB and advice.vram_gb is not None:
        return f"it asks for {vram} GB, and {FLOOR_GB} GB is the least"
    if vram < weights:
        return f"it asks for {vram} GB, and the weights alone need {math.ceil(weights)} GB"
    if card is None and vram > _largest_gb():
        return f"it asks for {vram} GB, and no card has more than {_largest_gb():g} GB"
    if card is not None and card.marketed_gb < vram:
        return f"it asks for {vram} GB on a {card.name}, which has {card.marketed_gb:g} GB"
    most = card.max_per_node if card is not None else MOST_CARDS
    if advice.gpu_count is not None and count > most:
        return f"it asks for {count} GPUs, and one machine has {most}"
    return None


def _weights_gib(analysis: Analysis) -> float:
    """Return what the weights alone take of each card in the run that is provisioned for."""
    return _weights_of(analysis.breakdown)


def _least_weights_gib(analysis: Analysis) -> float:
    """Return what the weights alone take of each card at least: a model may mean any of the runs that were found."""
    others = (_weights_of(profile.breakdown) for profile in analysis.profiles)
    return min((_weights_gib(analysis), *(weights for weights in others if weights)))


def _weights_of(breakdown: MemoryBreakdown | None) -> float:
    return sum(term.gib for term in (breakdown.terms if breakdown else ()) if term.name == "weights")


def _largest_gb() -> float:
    return max(card.marketed_gb for card in accelerators().values() if card.is_nvidia)


def _changes(before: EnvironmentSpec, after: EnvironmentSpec) -> tuple[tuple[str, str, str], ...]:
    """Return key, what the code alone says, and what the answer made of it."""
    pairs = (
        ("meta.workload_type", before.meta.workload_type.value, after.meta.workload_type.value),
        ("hardware.vram_required_gb", _gb(before.hardware), _gb(after.hardware)),
        ("hardware.gpu_count", str(before.hardware.gpu_count), str(after.hardware.gpu_count)),
        ("hardware.gpu_type", before.hardware.gpu_type or "any", after.hardware.gpu_type or "any"),
    )
    return tuple((key, was, now) for key, was, now in pairs if was != now)


def _gb(hardware: Hardware) -> str:
    return f"{hardware.vram_required_gb} GB" if hardware.vram_required_gb else "none"


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object of an answer: bare, in a fenced block, or between other words."""
    bare = _THOUGHTS.sub("", text).strip()
    fenced = _FENCE.search(bare)
    between = bare[bare.find("{") : bare.rfind("}") + 1]
    for candidate in (bare, fenced[1] if fenced else "", between):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _workload(value: object) -> WorkloadType | None:
    if value is None:
        return None
    kinds = {kind.value: kind for kind in WorkloadType}
    if not isinstance(value, str) or value not in kinds:
        raise _OutOfBoundsError(f"its `workload_type` is none of {', '.join(kinds)}")
    return kinds[value]


def _whole(value: object, name: str) -> int | None:
    if value is None:
        return None
    # Some models write 24.0; true is a number in Python and none here.
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_whole or not isinstance(value, int | float) or value != int(value) or not 0 <= value <= 10_000:
        raise _OutOfBoundsError(f"its `{name}` is no whole number that could be meant")
    return int(value)


def _accelerator(value: object) -> str | None:
    if value is None:
        return None
    card = find_accelerator(value) if isinstance(value, str) else None
    if card is None:
        raise _OutOfBoundsError("its `gpu_type` is no accelerator that we know")
    return card.name


def _reason(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _OutOfBoundsError("its `reason` is no text")
    return _one_line(value, MAX_REASON_CHARACTERS)


def _one_line(text: str, limit: int) -> str:
    """Return foreign words on one line, without what could close our quotation or open a code span."""
    plain = " ".join(clean_text(text[: limit * 4]).split()).translate(_QUOTES)
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"
