"""In which order ``forward`` uses the parts of a network on its first input: the first of them says what that input is.

Constructors often make the parts for a time, a label or the middle of a U-Net before the layer that reads what goes in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import Instance, Layer, Value
from gpu_lol_action.analysis.python.defaults import by_place

_ASKED = frozenset({"shape", "size", "device", "dtype", "ndim", "dim", "numel", "is_cuda", "type"})


def in_order(machine: Machine, network: Instance, function: ast.FunctionDef, name: str) -> Value:
    """Return a network's parts with those first that ``function`` hands its parameter of that name, or what it made of it.

    The network as it is where nothing tells which these are.
    """
    key = (id(function), name)
    if key not in machine.orders:  # each network of a class is run anew
        machine.orders[key] = list(dict.fromkeys(_used(function, name)))
    used = machine.orders[key]
    if not used or not _is_part(network.attributes.get(used[0])):  # a method first, whose parts are not looked for
        return network
    return [*(part for each in used if _is_part(part := network.attributes.get(each))), network]


def _is_part(value: Value) -> bool:
    return isinstance(value, (Instance, Layer, list))


def _used(function: ast.FunctionDef, name: str) -> Iterator[str]:
    """Yield the attributes of ``self`` that are called on what comes from a parameter, in order; names keep what they are given."""
    parameters = by_place(function)
    if not parameters:  # `*args`: who is the object itself, only its code tells
        return
    owner = parameters[0].arg
    given = {name}
    loops: dict[str, str] = {}  # names that go through an attribute's parts, by that attribute
    for node in _in_line(function):
        if isinstance(node, ast.For) and (part := _attribute(node.iter, owner)):
            loops |= {each.id: part for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if isinstance(node, ast.Assign):
            names = {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            given = given | names if _mentions(node.value, given) else given - names
        if isinstance(node, ast.Call) and any(_mentions(argument, given) for argument in node.args):
            part = _attribute(node.func, owner)
            part = loops.get(node.func.id, "") if isinstance(node.func, ast.Name) else part
            if part:
                yield part


def _in_line(node: ast.AST) -> Iterator[ast.AST]:
    """Yield statements and calls in the order in which they run: of an assignment and a call what is inside first."""
    inner = isinstance(node, (ast.Assign, ast.Call))
    if not inner:
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_line(child)
    if inner:
        yield node


def _attribute(node: ast.expr, owner: str) -> str:
    """Return the attribute of the object itself that an expression goes through first (``self.downs``, ``enumerate(self.downs)``)."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == owner:
            return each.attr
    return ""


def _mentions(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression has one of these names, other than for its size or place."""
    if isinstance(node, ast.Attribute) and node.attr in _ASKED:
        return False
    if isinstance(node, ast.Name):
        return node.id in names
    return any(_mentions(child, names) for child in ast.iter_child_nodes(node))
