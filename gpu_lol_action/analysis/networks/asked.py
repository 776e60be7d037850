"""A call of a function that a reader of networks knows, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import Value
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Asked:
    """A call of a function that is known here: its arguments."""

    machine: Machine
    places: Sequence[Value]
    named: Mapping[str, Value]


Builtin = Callable[[Asked], Value]
