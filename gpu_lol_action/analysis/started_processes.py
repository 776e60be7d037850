"""How many processes a program starts by itself, one per card: ``mp.spawn(main, nprocs=4)``, ``notebook_launcher(train, num_processes=2)``."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.python_defaults import Call
from gpu_lol_action.analysis.settings import as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "hardware.gpu_count"
MOST_CARDS = 16
# What starts processes, and where their number stands: the argument's name, and its place.
_STARTERS = {"spawn": ("nprocs", 2), "notebook_launcher": ("num_processes", 2)}
_STRATEGIES = ("MirroredStrategy", "MultiWorkerMirroredStrategy")
_CARD = regex(r"gpu:(\d{1,2})\b", re.IGNORECASE)


def started_processes(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the number of cards that a training's own calls start processes for, or place copies of the model on; none where they take what is there."""
    if run.script is None or run.behavior is not Behavior.TRAINS:
        return []
    for source in import_closure(checkout, run.script):
        for call in source.code.calls_named(*_STARTERS, *_STRATEGIES) if source.code else ():
            count = _mirrored(call) if call.last in _STRATEGIES else _started(source, call, run)
            if 1 < count <= MOST_CARDS:
                why = f"`{call.last}` takes {count} cards"
                return [Finding(FIELD, str(count), why, Confidence.MEDIUM, Evidence(source.path, call.line))]
    return []


def _started(source: Source, call: Call, run: Run) -> int:
    name, place = _STARTERS[call.last]
    value = call.keyword(name) or (call.arguments[place] if len(call.arguments) > place else None)
    if value is None or source.code is None:
        return 0
    said = run.options.get(value.reference or "") or source.code.resolve(value, call.owner)
    return as_number(said or "") or 0


def _mirrored(call: Call) -> int:
    devices = call.keyword("devices") or next(iter(call.arguments), None)
    return len(set(_CARD.findall(devices.text or ""))) if devices is not None else 0
