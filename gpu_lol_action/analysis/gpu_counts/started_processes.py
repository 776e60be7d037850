"""How many processes a program starts by itself, one per card: ``mp.spawn(main, nprocs=4)``, ``notebook_launcher(train, num_processes=2)``."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "hardware.gpu_count"
MOST_CARDS = 16
# What starts processes, and where their number stands: the argument's name, and its place.
_STARTERS = {"spawn": ("nprocs", 2), "notebook_launcher": ("num_processes", 2)}
# The argument's place counts only where the name is PyTorch's: others spawn programs, with seconds to wait for them.
_OF_TORCH = regex(r"(?:torch\.)?(?:multiprocessing|x?mp)\.spawn|spawn|(?:\w{1,40}\.){0,3}notebook_launcher")
_STRATEGIES = ("MirroredStrategy", "MultiWorkerMirroredStrategy")
# Processes of a program that names neither are workers on cores (actors, loaders).
_OF_CARDS = ("cuda", "nccl", "gpu", "accelerate")
BY_ROLES = "init_rpc"
"""What a program calls whose processes are a master, a server of parameters, observers: they are no cards."""
_CARD = regex(r"gpu:(\d{1,2})\b", re.IGNORECASE)


def started_processes(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the number of cards that a training's own calls start processes for, or place copies of the model on; none where they take what is there."""
    if run.script is None or run.behavior is not Behavior.TRAINS:
        return []
    for source in import_closure(checkout, run.script):
        for call in source.code.calls_named(*_STARTERS, *_STRATEGIES) if source.code else ():
            count = _mirrored(call) if call.last in _STRATEGIES else _started(source, call, run)
            if call.last not in _STRATEGIES and _is_on_cores(source):
                continue
            if 1 < count <= MOST_CARDS:
                why = f"`{call.last}` takes {count} cards"
                return [Finding(FIELD, str(count), why, Confidence.MEDIUM, Evidence(source.path, call.line))]
    return []


def _is_on_cores(source: Source) -> bool:
    """Whether a program's processes take no card each: it names none, they are roles, or they speak over Gloo alone."""
    if source.mentions(BY_ROLES):
        return True
    return not any(map(source.mentions, _OF_CARDS)) or (source.mentions("gloo") and not source.mentions("nccl"))


def _started(source: Source, call: Call, run: Run) -> int:
    name, place = _STARTERS[call.last]
    is_placed = len(call.arguments) > place and _OF_TORCH.fullmatch(call.name) is not None
    value = call.keyword(name) or (call.arguments[place] if is_placed else None)
    if value is None or source.code is None:
        return 0
    said = run.options.get(value.reference or "") or source.code.resolve(value, call.owner)
    return as_number(said or "") or 0


def _mirrored(call: Call) -> int:
    devices = call.keyword("devices") or next(iter(call.arguments), None)
    return len(set(_CARD.findall(devices.text or ""))) if devices is not None else 0
