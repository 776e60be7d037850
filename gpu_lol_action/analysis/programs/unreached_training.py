"""Modules of helpers that could train, of which a program takes others: an optimizer's first step beside functions on tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import training_calls


def is_training_unreached(source: Source, closure: Sequence[Source]) -> bool:
    """Whether all calls of a module that train stand in functions at its top that neither it nor the other modules name."""
    calls = training_calls(source.code) if source.code is not None else []
    owners = {call.owner for call in calls}
    return bool(calls) and all(owner and _is_unnamed(owner, source, closure) for owner in owners)


def _is_unnamed(function: str, source: Source, closure: Sequence[Source]) -> bool:
    """Whether a function is defined at the top of its module, and named nowhere else."""
    if f"\ndef {function}(" not in source.text or len(_alone(function).findall(source.text)) != 1:
        return False
    return not any(other.mentions(function) for other in closure if other is not source)


def _alone(word: str) -> re.Pattern[str]:
    """Return how a word stands by itself in a program."""
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
