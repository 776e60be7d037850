"""A network without ``forward``: its methods are called one after the other (``encode``, ``decode``, ``project``), as its program does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.network_calls import FORWARDS, call
from gpu_lol_action.analysis.network_machine import Machine
from gpu_lol_action.analysis.network_objects import line_of, method_of
from gpu_lol_action.analysis.network_values import Class, Instance, Method, Tensor, Value

MOST_METHODS = 6
_CARRIED = re.compile(r"x|h|z|hidden\w*|memory|\w*(?:enc|dec|out|feat|embed|latent)\w*", re.IGNORECASE)
"""Parameters that take what the method before put out; others take what comes from the data."""


_BESIDE = re.compile(
    r"(?:train|valid|test|eval|predict|load|save|set|get|on|configure|sample|generate|infer|reset|init|log)\w*|\w+_(?:step|epoch|dataloader)"
)
"""Methods that put networks together, use them again, or belong to a trainer."""


def run_by_methods(machine: Machine, network: Value) -> Value:
    """Return what the last method of a network without ``forward`` puts out; None where it has one, or is none of a program's own."""
    if not isinstance(network, Instance) or not isinstance(network.home, Class):
        return None
    line = line_of(machine, network.home)
    if any(method_of(network, name, line) is not None for name in FORWARDS) or "__base__" in network.attributes:
        return None
    result: Value = None
    for node in _methods(network.home):
        names = [parameter.arg for parameter in node.args.args[1:]]
        places = [_given(name, result) for name in names[: len(names) - len(node.args.defaults)]]
        method = method_of(network, node.name, line)
        result = call(machine, method if method is not None else Method(network, node.name), places, {})
    return result


def _methods(home: Class) -> Iterator[ast.FunctionDef]:
    """Yield the methods that take something and are no helpers, in their order."""
    public = [item for item in home.node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")]
    yield from [item for item in public if len(item.args.args) > 1 and not _BESIDE.fullmatch(item.name)][:MOST_METHODS]


def _given(name: str, before: Value) -> Value:
    is_carried = isinstance(before, Tensor) and _CARRIED.fullmatch(name) is not None
    return before if is_carried else Tensor(None, name=name)
