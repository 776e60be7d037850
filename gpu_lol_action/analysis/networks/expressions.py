"""Expressions of other people's programs to values, as far as they are constant, arithmetic, or build and call networks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.networks.attributes import assign_attribute, attribute
from gpu_lol_action.analysis.networks.machine import MAX_LIST, Frame, Machine
from gpu_lol_action.analysis.networks.names import global_value
from gpu_lol_action.analysis.networks.operators import binary, compared, items_of, truth, unary
from gpu_lol_action.analysis.networks.spread_arguments import ASKS, spread
from gpu_lol_action.analysis.networks.tensors import combine, index_tensor
from gpu_lol_action.analysis.networks.values import UNKNOWN, Counted, Function, Instance, Named, Tensor, Value, whole
from gpu_lol_action.analysis.networks.vocabularies import called_size, is_open, named_size

MAX_TEXT = 400
MOST_NUMBERS = 64  # of a table that are computed
_PLAIN = (int, float, str, bool, type(None))
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def evaluate(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """Return what an expression stands for; ``UNKNOWN`` where only running the program would tell."""
    handler = _HANDLERS.get(type(node))
    return handler(machine, frame, node) if handler is not None else UNKNOWN


def _name(machine: Machine, frame: Frame, node: ast.Name) -> Value:
    name = node.id
    if name in frame.names:
        value = frame.names[name]
    else:
        value = frame.around[name] if name in frame.around else global_value(machine, frame, name)
    return named_size(name, value, of_letters=machine.counts_letters) if is_open(value) else value


def _attribute(machine: Machine, frame: Frame, node: ast.Attribute) -> Value:
    value = attribute(machine, evaluate(machine, frame, node.value), node.attr)
    return named_size(node.attr, value, of_letters=machine.counts_letters) if is_open(value) else value


def _call(machine: Machine, frame: Frame, node: ast.Call) -> Value:
    machine.step()
    if isinstance(node.func, ast.Name) and node.func.id == "super" and frame.home is not None:
        return machine.call(Named("super"), [frame.owner, frame.home], {})
    target = evaluate(machine, frame, node.func)
    is_asked = target is UNKNOWN and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS
    places: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(machine, frame, argument.value)
            places.extend(items_of(value)[:MAX_LIST] if value is not UNKNOWN else ())
        else:
            places.append(evaluate(machine, frame, argument))
    named: dict[str, Value] = {}
    for word in node.keywords:
        value = evaluate(machine, frame, word.value)
        if word.arg is not None:
            named[word.arg] = value
        else:
            named.update(spread(machine, value, word.value, target))
    if isinstance(node.func, ast.Attribute) and node.func.attr == "save_hyperparameters":
        given = {key: value for key, value in frame.names.items() if value is not frame.owner}
        assign_attribute(frame.owner, "hparams", given)  # Lightning keeps what the constructor was given
        return None
    if not machine.building and not machine.running:
        machine.line, machine.program = node.lineno, frame.program
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            machine.add_option(places, named)
    if is_asked and places and isinstance(places[0], str):  # of a configuration of which only its words are known
        said = attribute(machine, UNKNOWN, places[0])
        part = machine.mappings.get(fold_key(places[0])) if said is UNKNOWN else None
        return dict(part) if part is not None else places[1] if said is UNKNOWN and len(places) > 1 else said
    value = machine.followed.call(machine, target, places, named)
    return value if value is not UNKNOWN else called_size(node, of_letters=machine.counts_letters)


def _sequence(machine: Machine, frame: Frame, node: ast.List | ast.Tuple | ast.Set) -> Value:
    found: list[Value] = []
    for item in node.elts[:MAX_LIST]:
        if isinstance(item, ast.Starred):
            found.extend(items_of(evaluate(machine, frame, item.value))[:MAX_LIST])
        else:
            found.append(evaluate(machine, frame, item))
    return found[:MAX_LIST]


def _dictionary(machine: Machine, frame: Frame, node: ast.Dict) -> Value:
    found: dict[Any, Value] = {}
    for key, value in list(zip(node.keys, node.values, strict=True))[:MAX_LIST]:
        held = evaluate(machine, frame, value)
        name = evaluate(machine, frame, key) if key is not None else None
        if key is None and isinstance(held, dict):
            found.update(held)
        elif isinstance(name, (str, int, float)):
            found[name] = held
    return found


def _comprehension(
    machine: Machine, frame: Frame, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
) -> Value:
    inner = Frame(frame.program, dict(frame.names), frame.around, frame.owner, frame.home)

    def rounds(place: int) -> Iterator[None]:
        if place == len(node.generators):
            yield None
            return
        part = node.generators[place]
        for value in items_of(evaluate(machine, inner, part.iter))[:MAX_LIST]:
            machine.step()
            machine.followed.assign(machine, inner, part.target, value)
            if all(truth(evaluate(machine, inner, test)) is not False for test in part.ifs):
                yield from rounds(place + 1)

    if isinstance(node, ast.DictComp):
        pairs = ((evaluate(machine, inner, node.key), evaluate(machine, inner, node.value)) for _ in rounds(0))
        entries = [(key, value) for key, value in pairs]
        known = {key: value for key, value in entries if isinstance(key, (str, int, float))}
        return known if len(known) == len(entries) or known else UNKNOWN
    found: list[Value] = []
    for _ in rounds(0):
        found.append(evaluate(machine, inner, node.elt))
        if len(found) == MOST_NUMBERS and len(node.generators) == 1 and not node.generators[0].ifs and _is_table(found):
            length = len(items_of(evaluate(machine, frame, node.generators[0].iter))[:MAX_LIST])
            return found + found[-1:] * (length - len(found))
    return found[:MAX_LIST]


def _is_table(values: list[Value]) -> bool:
    """Whether a list holds numbers (known or not), or rows of them, alone: of a long one only its length says anything of a network.

    A row may be an array: tables of positions often say their first one apart (``zeros(d) if at == 0 else [...]``).
    """
    rows = [item for item in values if not isinstance(item, Tensor) or item.is_parameter]
    return bool(rows) and all(
        isinstance(value, (int, float))
        or value is UNKNOWN
        or (isinstance(value, list) and all(isinstance(item, (int, float)) or item is UNKNOWN for item in value))
        for value in rows
    )


def _compare(machine: Machine, frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(machine, frame, node.left)
    for sign, other in zip(node.ops, node.comparators, strict=True):
        right = evaluate(machine, frame, other)
        holds = compared(sign, left, right)
        if holds is None and len(node.ops) == 1 and isinstance(sign, _ORDERED) and Tensor in (type(left), type(right)):
            return combine(left, right)  # a mask
        if holds is not True:
            return UNKNOWN if holds is None else False
        left = right
    return True


def _joined(machine: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    value: Value = UNKNOWN
    is_or = isinstance(node.op, ast.Or)
    for part in node.values:
        value = evaluate(machine, frame, part)
        holds = truth(value)
        if holds is is_or:
            return value
        if holds is None and not is_or:
            rest = [truth(evaluate(machine, frame, other)) for other in node.values]
            return False if False in rest else UNKNOWN
        if holds is None and value is not UNKNOWN:
            return value
    return value


def _constant(_machine: Machine, _frame: Frame, node: ast.Constant) -> Value:
    return node.value if isinstance(node.value, _PLAIN) else UNKNOWN


def _arithmetic(machine: Machine, frame: Frame, node: ast.BinOp) -> Value:
    return binary(machine, node.op, evaluate(machine, frame, node.left), evaluate(machine, frame, node.right))


def _chosen(machine: Machine, frame: Frame, node: ast.IfExp) -> Value:
    holds = truth(evaluate(machine, frame, node.test))
    value = evaluate(machine, frame, node.orelse if holds is False else node.body)
    other = evaluate(machine, frame, node.orelse) if holds is None and value is UNKNOWN else None
    return other if other is not None else value


def _signed(machine: Machine, frame: Frame, node: ast.UnaryOp) -> Value:
    return unary(node.op, evaluate(machine, frame, node.operand))


def _lambda(_machine: Machine, frame: Frame, node: ast.Lambda) -> Value:
    return Function(node, frame.program, {**frame.around, **frame.names}, None, frame.home)


def _text(machine: Machine, frame: Frame, node: ast.JoinedStr) -> Value:
    values = [
        evaluate(machine, frame, part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values
    ]
    known = all(isinstance(value, (str, int, float)) for value in values)
    return "".join(str(value) for value in values)[:MAX_TEXT] if known else UNKNOWN


def _bound(machine: Machine, frame: Frame, node: ast.NamedExpr) -> Value:
    frame.names[node.target.id] = evaluate(machine, frame, node.value)
    return frame.names[node.target.id]


def _awaited(machine: Machine, frame: Frame, node: ast.Await) -> Value:
    return evaluate(machine, frame, node.value)


def _item(machine: Machine, frame: Frame, node: ast.Subscript) -> Value:
    owner = evaluate(machine, frame, node.value)
    if isinstance(owner, Tensor):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return index_tensor(owner, [_bounds(machine, frame, part) for part in parts])
    held = owner.items if isinstance(owner, Instance) and owner.items else owner
    if isinstance(held, Instance):
        held = held.attributes
    if isinstance(node.slice, ast.Slice) and isinstance(held, (list, str)):
        bounds = _bounds(machine, frame, node.slice)
        if isinstance(bounds, slice):
            part = held[bounds]
            return (
                Instance(None, owner.kind, True, {}, part)
                if isinstance(owner, Instance) and isinstance(part, list)
                else part
            )
        return held
    index = evaluate(machine, frame, node.slice)
    if isinstance(held, str) and isinstance(index, str):
        return attribute(machine, UNKNOWN, index)  # a file's name stands where what it holds is meant
    if isinstance(held, (list, str)):
        return held[index] if isinstance(index, int) and -len(held) <= index < len(held) else UNKNOWN
    if isinstance(held, dict):
        if isinstance(index, str) and index not in held and (entered := machine.registered(index)) is not None:
            return entered
        if isinstance(index, str) and index not in held:  # filled from a file as the program runs
            return attribute(machine, UNKNOWN, index)
        return held.get(index, UNKNOWN) if isinstance(index, (str, int, float)) else UNKNOWN
    if isinstance(owner, Named) and owner.last in {"__dict__", "modules", "environ"} and isinstance(index, str):
        found = machine.option if owner.last == "environ" else partial(_of_module, machine, frame, owner)
        return found(index) if index.isidentifier() else UNKNOWN
    if isinstance(owner, Counted):
        return owner
    return attribute(machine, UNKNOWN, index) if isinstance(index, str) and owner is UNKNOWN else UNKNOWN


def _of_module(machine: Machine, frame: Frame, owner: Named, name: str) -> Value:
    """Return what a module's names hold: of the one that is told, else of the program's own."""
    module = owner.name.rpartition(".")[0]
    home = machine.module(module)
    if home is None and "." in module:  # a library's
        return attribute(machine, Named(module), name)
    is_there = home is not None and (home.defines(name) or name in home.values)
    return global_value(machine, Frame(home) if is_there and home is not None else frame, name)


def _bounds(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """Return an index, or a slice of known bounds."""
    if not isinstance(node, ast.Slice):
        is_rest = isinstance(node, ast.Constant) and node.value is Ellipsis
        return Ellipsis if is_rest else evaluate(machine, frame, node)
    parts = (node.lower, node.upper, node.step)
    ends = [whole(evaluate(machine, frame, part)) if part is not None else None for part in parts]
    if machine.running and ends[1] is UNKNOWN and ends[0] in (None, 0):
        return slice(machine.length)  # a table of positions is cut to those that there are
    return (
        slice(*ends)
        if all(end is None or (isinstance(end, int) and not isinstance(end, bool)) for end in ends)
        else UNKNOWN
    )


_HANDLERS: Mapping[type[ast.expr], Callable[[Machine, Frame, Any], Value]] = {
    ast.Name: _name, ast.Attribute: _attribute, ast.Call: _call, ast.List: _sequence, ast.Tuple: _sequence, ast.Set: _sequence,
    ast.Dict: _dictionary, ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.SetComp: _comprehension,
    ast.DictComp: _comprehension, ast.Compare: _compare, ast.BoolOp: _joined, ast.Constant: _constant, ast.BinOp: _arithmetic,
    ast.IfExp: _chosen, ast.UnaryOp: _signed, ast.Subscript: _item, ast.Lambda: _lambda, ast.JoinedStr: _text,
    ast.NamedExpr: _bound, ast.Await: _awaited,
}  # fmt: skip
"""Each of what its kind of expression takes."""
