"""What a call is handed with ``**``: a dictionary's entries, a section of the run's configuration, or what the run says under the parameters' names."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import UNKNOWN, Class, Function, Value
from gpu_lol_action.analysis.python.defaults import by_place

MAX_PARAMETERS = 60
ASKS = frozenset({"get", "pop"})
"""Methods by which entries of a configuration are asked for."""


def spread(machine: Machine, value: Value, node: ast.expr, target: Value) -> Mapping[str, Value]:
    """Return the arguments by name. What is not known may be the configuration: then those that the run says count as given."""
    if value is UNKNOWN:
        value = machine.mappings.get(_last_word(node), UNKNOWN)
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if isinstance(key, str)}
    if value is not UNKNOWN:
        return {}
    return said_of(machine, target)


def said_of(machine: Machine, target: Value) -> dict[str, Value]:
    """Return what the run itself says under the names of what a class or function of the checkout may be given."""
    return {name: machine.option(name) for name in _parameters(target) if _is_said(machine, name)}


def _is_said(machine: Machine, name: str) -> bool:
    machine.option(name)  # what was asked for is remembered with the answer
    return machine.is_said(name)


def _parameters(target: Value) -> list[str]:
    """Return the names of what a class or function of the checkout may be given."""
    if isinstance(target, Function):
        arguments = target.node.args
        return [each.arg for each in (*by_place(target.node), *arguments.kwonlyargs)][:MAX_PARAMETERS]
    if not isinstance(target, Class):
        return []
    starts = [each for each in target.node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    if starts:
        return [each.arg for each in (*by_place(starts[0])[1:], *starts[0].args.kwonlyargs)][:MAX_PARAMETERS]
    fields = [each.target for each in target.node.body if isinstance(each, ast.AnnAssign)]
    return [each.id for each in fields if isinstance(each, ast.Name)][:MAX_PARAMETERS]


def _last_word(node: ast.expr) -> str:
    """Return the word by which a part of a configuration is asked for: of ``cfg.net``, ``cfg["net"]`` and ``cfg.get("net")`` the last."""
    if isinstance(node, ast.Attribute):
        return fold_key(node.attr)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS and node.args:
        node = node.args[0]
    elif isinstance(node, ast.Subscript):
        node = node.slice
    return fold_key(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
