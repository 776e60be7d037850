"""A language model's answer as values: types, names and numbers are checked here, and what they may change in ``llm_guard``."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.redaction import clean_text
from gpu_lol_action.domain.spec import WorkloadType

MAX_ANSWER_CHARACTERS = 20_000
MAX_REASON_CHARACTERS = 300
MAX_RUN_CHARACTERS = 100
MAX_PACKAGES = 60
MAX_PACKAGE_CHARACTERS = 80
_THOUGHTS = regex(r"<think>.*?</think>", re.DOTALL)
_FENCE = regex(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_NAME = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_QUOTES = str.maketrans({"`": "'", "“": "'", "”": "'"})


@record(frozen=True, slots=True)
class Advice:
    """A language model's answer, understood but not yet believed; None where it leaves a value alone.

    ``vram_gb`` is GB of each card as cards are sold, ``gpu_count`` cards of one machine, ``num_nodes`` machines, ``run`` the
    name of one of the runs that it was told of. ``added`` and ``dropped`` are normalized names of packages, without versions.
    """

    workload: WorkloadType | None
    gpu_count: int | None
    vram_gb: int | None
    gpu_type: str | None
    reason: str
    run: str | None = None
    num_nodes: int | None = None
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


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
            run=_run(fields.get("run")),
            num_nodes=_whole(fields.get("num_nodes"), "num_nodes"),
            added=_packages(fields.get("add_packages"), "add_packages"),
            dropped=_packages(fields.get("drop_packages"), "drop_packages"),
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
            "run": advice.run,
            "num_nodes": advice.num_nodes,
            "add_packages": list(advice.added),
            "drop_packages": list(advice.dropped),
        },
        ensure_ascii=False,
    )


def one_line(text: str, limit: int) -> str:
    """Return foreign words on one line, without what could close our quotation or open a code span."""
    plain = " ".join(clean_text(text[: limit * 4]).split()).translate(_QUOTES)
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


class _OutOfBoundsError(Exception):
    """A value that no answer may have; its text is the end of a sentence."""


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


def _run(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > MAX_RUN_CHARACTERS):
        raise _OutOfBoundsError("its `run` is no name of a run")
    return value or None


def _packages(value: object, name: str) -> tuple[str, ...]:
    given = [] if value is None else value if isinstance(value, list) else [value]
    texts = [text for text in given if isinstance(text, str) and len(text) <= MAX_PACKAGE_CHARACTERS]
    if len(texts) < len(given) or isinstance(value, str):
        raise _OutOfBoundsError(f"its `{name}` is no list of names")
    if len(texts) > MAX_PACKAGES:
        raise _OutOfBoundsError(f"its `{name}` has more than {MAX_PACKAGES} names")
    return tuple(dict.fromkeys(found for text in texts if (found := _name_of(text))))


def _name_of(text: str) -> str:
    """Return the name of a package, empty for what is none; a version behind it is not taken."""
    found = _NAME.match(text.strip())
    rest = text.strip()[found.end() :].lstrip() if found is not None else ""
    return package_name(found[0]) if found is not None and (not rest or rest[0] in "<>=!~[") else ""


def _reason(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _OutOfBoundsError("its `reason` is no text")
    return one_line(value, MAX_REASON_CHARACTERS)
