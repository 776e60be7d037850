"""What an object is: ``isinstance`` and ``type`` of other people's programs."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.asked import Asked
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.objects import line_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Class, Instance, Layer, Named, Tensor, Value

_ROOTS = frozenset({"Module", "Sequential", "ModuleList", "ModuleDict", "object"})
"""What inherits from nothing else that a program asks for."""


def is_instance(asked: Asked) -> Value:
    """Return what ``isinstance`` gives; ``UNKNOWN`` where a class is not known to its end."""
    if len(asked.places) < 2:
        return UNKNOWN
    value, kinds = asked.places[0], asked.places[1] if isinstance(asked.places[1], list) else [asked.places[1]]
    words = {
        kind.last if isinstance(kind, Named) else kind.node.name if isinstance(kind, Class) else "" for kind in kinds
    }
    if isinstance(value, (bool, int, float, str, list, dict)):
        own = {type(value).__name__, "Iterable" if isinstance(value, (list, dict)) else "", "tuple" if isinstance(value, list) else "",
               "Sequence" if isinstance(value, list) else "", "ListConfig" if isinstance(value, list) else "", "DictConfig" if isinstance(value, dict) else ""}  # fmt: skip
        return bool(own & words - {""})
    if isinstance(value, Layer):
        return value.kind in words or ("Module" in words)
    if isinstance(value, Tensor):
        return "Tensor" in words
    if isinstance(value, Instance):
        return _is_of_kind(asked.machine, value, words)
    return False if value is None else UNKNOWN


def _is_of_kind(machine: Machine, value: Instance, words: set[str]) -> Value:
    """Return whether an object is of one of these classes: its own, or what that inherits from, if all of it is known."""
    line = line_of(machine, value.home) if value.home is not None else [Named(value.kind)]
    names = {
        each.last if isinstance(each, Named) else each.node.name for each in line if isinstance(each, (Named, Class))
    }
    if names & words or ("Module" in words and value.is_network):
        return True
    is_whole = len(line) == len(names) and bool(names & _ROOTS)
    return False if is_whole or not words else UNKNOWN


def kind_of(asked: Asked) -> Value:
    """Return the class of an object, Python's own by name."""
    value = asked.places[0] if asked.places else UNKNOWN
    if isinstance(value, Instance) and value.home is not None:
        return value.home
    return Named(type(value).__name__) if isinstance(value, (bool, int, float, str, dict)) else UNKNOWN
