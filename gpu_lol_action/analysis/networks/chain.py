"""A network without ``forward`` whose methods hand on what the one before put out (``encode``, ``decode``, ``project``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.networks.calls import call
from gpu_lol_action.analysis.networks.inputs import FORWARDS
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.objects import line_of, method_of
from gpu_lol_action.analysis.networks.values import Class, Instance, Method, Tensor, Value
from gpu_lol_action.analysis.python.defaults import by_place
from gpu_lol_action.domain.patterns import regex

MOST_METHODS = 6
_HANDED = regex(r"z|hidden\w*|memory|\w*(?:enc|dec|out|feat|embed|latent)\w*", re.IGNORECASE)
"""Parameters that take what the method before put out, whatever it is; others take what comes from the data."""
_CARRIED = regex(rf"x|h|{_HANDED.pattern}", re.IGNORECASE)
"""The same, where it is known that the methods are a chain."""
_BESIDE = regex(
    r"(?:train|valid|test|eval|predict|load|save|set|get|on|configure|sample|generate|infer|reset|init|log)\w*|\w+_(?:step|epoch|dataloader)"
)
"""Methods that put networks together, use them again, or belong to a trainer."""


def is_chain(machine: Machine, network: Value) -> bool:
    """Whether a network of the program's own has no ``forward``, and methods of which one takes what another puts out."""
    if not isinstance(network, Instance) or not isinstance(network.home, Class) or "__base__" in network.attributes:
        return False
    line = line_of(machine, network.home)
    if any(method_of(network, name, line) is not None for name in FORWARDS):
        return False
    return any(_HANDED.fullmatch(name) for node in list(_methods(network.home))[1:] for name in _required(node))


def run_chain(machine: Machine, network: Value) -> Value:
    """Return what the last method of a chain puts out; None where the network is none."""
    if not isinstance(network, Instance) or not isinstance(network.home, Class):
        return None
    line, result = line_of(machine, network.home), None
    for node in _methods(network.home):
        places = [_given(name, result) for name in _required(node)]
        method = method_of(network, node.name, line)
        result = call(machine, method if method is not None else Method(network, node.name), places, {})
    return result


def _methods(home: Class) -> Iterator[ast.FunctionDef]:
    """Yield the methods that take something and are no helpers, in their order."""
    public = [item for item in home.node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")]
    yield from [item for item in public if len(by_place(item)) > 1 and not _BESIDE.fullmatch(item.name)][:MOST_METHODS]


def _required(node: ast.FunctionDef) -> list[str]:
    names = [parameter.arg for parameter in by_place(node)[1:]]
    return names[: len(names) - len(node.args.defaults)]


def _given(name: str, before: Value) -> Value:
    is_carried = isinstance(before, Tensor) and _CARRIED.fullmatch(name) is not None
    return before if is_carried else Tensor(None, name=name)
