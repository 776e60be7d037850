"""Modules that could train, of which a program takes other parts: an optimizer's step beside functions on tensors, a trainer beside its network."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import training_calls
from gpu_lol_action.analysis.programs.unused_definitions import MOST_READ, Definition, definitions, is_unused
from gpu_lol_action.domain.patterns import regex


def is_training_unreached(source: Source, closure: Sequence[Source]) -> bool:
    """Whether all calls of a module that train stand in functions and classes at its top that nothing of the program uses."""
    calls = training_calls(source.code) if source.code is not None else []
    if not calls or len(closure) > MOST_READ:
        return False
    text = source.text
    starts = [0, *(found.end() for found in regex(r"\n").finditer(text))]
    defined = tuple(definitions(text))
    holders = {_holder(defined, starts[min(call.line, len(starts)) - 1]) for call in calls}
    return all(holder is not None and is_unused(holder, source, closure) for holder in holders)


def _holder(defined: Sequence[Definition], at: int) -> Definition | None:
    """Return the definition in which a place lies; None for what runs as the module is imported."""
    return next((each for each in defined if each.begin <= at < each.end), None)
