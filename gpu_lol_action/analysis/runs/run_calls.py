"""Where a run calls a function: in its program or in what that imports."""

from __future__ import annotations

import re
from collections.abc import Collection

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.programs.main_guards import started_alone
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MOST_UNUSED = 30
"""Calls in what nothing of the program names that are looked at before the next one counts as made."""
# Transformer Engine's `autocast` switches 8 bit on for its own layers.
_OF_EIGHT_BIT = ("te.", "transformer_engine.")


def called_at(checkout: Checkout, run: Run, *names: str) -> Evidence | None:
    """Return where the run's program, or what it imports, calls one of these: not under an option that is off, nor told to be off itself.

    ``autocast(enabled=args.amp)`` is what ``--amp`` says.
    """
    if run.script is None:
        return None
    closure, left = import_closure(checkout, run.script), MOST_UNUSED
    for source in closure:
        dead: tuple[Collection[int], ...] | None = None
        for call in source.code.calls_named(*(name.rpartition(".")[2] for name in names)) if source.code else ():
            if not _is_named(call, names) or _is_off(checkout, run, source, call):
                continue
            if dead is None:
                alone = () if source is run.script else (started_alone(source),)
                dead = (*dead_lines(source, values_of(checkout, run)), *alone)
            if any(call.line in block for block in dead):
                continue
            left -= 1
            if left < 0 or not is_unused_at(source, call.line, closure):
                return Evidence(source.path, call.line)
    return None


def _is_off(checkout: Checkout, run: Run, source: Source, call: Call) -> bool:
    enabled = call.keyword("enabled")
    if enabled is None or source.code is None:
        return False
    text = source.code.resolve(enabled, call.owner)
    name = fold_key((enabled.path or enabled.reference or "").rpartition(".")[2])
    text = text if text is not None or not name else values_of(checkout, run).get(name)
    return text is not None and text.strip().lower() in {"false", "none", "0"}


def _is_named(call: Call, names: tuple[str, ...]) -> bool:
    if call.last == "from_pretrained" and "from_pretrained" in names:
        return not regex(r"okeniz|rocessor|onfig|xtractor|vae|text_enc", re.IGNORECASE).search(call.name)
    return call.name in names or (call.last in names and not call.name.startswith(_OF_EIGHT_BIT))
