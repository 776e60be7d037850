"""Networks that have no ``forward``: agents, and modules of Lightning whose step calls their parts, are entered by those methods."""

from __future__ import annotations

import ast

from gpu_lol_action.analysis.networks.inputs import FORWARDS
from gpu_lol_action.analysis.networks.machine import Machine, is_module
from gpu_lol_action.analysis.networks.objects import line_of, method_of
from gpu_lol_action.analysis.networks.values import Class, Counted, Function, Instance, Value
from gpu_lol_action.analysis.python.defaults import by_place

MOST_METHODS = 6


def ways_in(machine: Machine, network: Value) -> list[Function]:
    """Return the methods by which the parts of a network without ``forward`` are run, in their order; nothing for all others."""
    if not isinstance(network, Instance) or network.home is None:
        return []
    line = line_of(machine, network.home)
    if any(method_of(network, name, line) is not None for name in FORWARDS):
        return []
    parts = {name for name, part in network.attributes.items() if is_module(part) or isinstance(part, (Counted, list))}
    found = [
        Function(item, each.program, {}, network, each)
        for each in line
        if isinstance(each, Class)
        for item in each.node.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_") and _calls_one(item, parts)
    ]
    return [function for function in found if len(_parameters(function)) > 1][:MOST_METHODS]


def _parameters(function: Function) -> list[ast.arg]:
    return by_place(function.node)


def _calls_one(method: ast.FunctionDef, parts: set[str]) -> bool:
    """Whether a method calls one of the parts (``self.critic(x)``)."""
    called = (node.func for node in ast.walk(method) if isinstance(node, ast.Call))
    return any(
        isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == "self"
        and each.attr in parts
        for each in called
    )
