"""Expressions of other people's programs to values, as far as they are constant, arithmetic, or build and call networks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpu_lol_action.analysis.network_machine import MAX_LIST, Frame, Machine
from gpu_lol_action.analysis.network_objects import assign_attribute, attribute
from gpu_lol_action.analysis.network_operators import binary, compared, items_of, truth, unary
from gpu_lol_action.analysis.network_tensors import index_tensor
from gpu_lol_action.analysis.network_values import UNKNOWN, Counted, Function, Instance, Named, Tensor, Value, whole
from gpu_lol_action.analysis.network_vocabularies import called_size, named_size

MAX_TEXT = 400
MOST_NUMBERS = 64  # of a table that are computed
_PLAIN = (int, float, str, bool, type(None))


def evaluate(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """Return what an expression stands for; ``UNKNOWN`` where only running the program would tell."""
    handler = _HANDLERS.get(type(node))
    return handler(machine, frame, node) if handler is not None else UNKNOWN


def _name(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    name = node.id if isinstance(node, ast.Name) else ""
    if name in frame.names:
        value = frame.names[name]
    else:
        value = frame.around[name] if name in frame.around else global_value(machine, frame, name)
    return named_size(name, value, of_letters=machine.counts_letters)


def global_value(machine: Machine, frame: Frame, name: str, hops: int = 3) -> Value:
    """Return a module's value of that name, computed when it is first asked, else what ``Machine.find`` knows."""
    program = frame.program
    ran = machine.modules.get(program.source.path, {})
    if name in ran and ran[name] is not UNKNOWN:
        return ran[name]
    key = (program.source.path, f"={name}")
    if name in program.values and name not in program.classes and name not in program.functions:
        if key not in machine.known:
            machine.known[key] = UNKNOWN  # what refers to itself
            value = evaluate(machine, Frame(program), program.values[name])
            machine.known[key] = value
        value = machine.known[key]
        if value is UNKNOWN:
            value = machine.option(name)
        if value is not UNKNOWN or name not in program.imports:  # else `net = net.Net()`: first it is a module
            return value
    found = machine.find(name, program)
    if isinstance(found, Named) and name in program.imports:
        for other in machine.meant_by(found.name):
            # A package hands on what its modules hold (`from .tables import table`).
            is_handed = other is not program and hops and other.imports.get(found.last, found.name) != found.name
            if other is not program and (found.last in other.values or is_handed):
                return global_value(machine, Frame(other), found.last, hops - 1)
    if isinstance(found, Named) and name not in program.imports:
        return _of_starred(machine, frame, name, found)
    return found


def _of_starred(machine: Machine, frame: Frame, name: str, found: Value) -> Value:
    """Return a value out of a module of which every name is imported; what was found where none has it."""
    key = (frame.program.source.path, f"*{name}")
    if key in machine.known:
        return machine.known[key]
    machine.known[key] = found  # modules may import each other
    for other in (other for origin in frame.program.stars for other in machine.meant_by(origin)):
        value = global_value(machine, Frame(other), name) if other is not frame.program else found
        if not isinstance(value, Named):
            machine.known[key] = value
            break
    return machine.known[key]


def _attribute(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(node, ast.Attribute):
        return UNKNOWN
    value = attribute(machine, evaluate(machine, frame, node.value), node.attr)
    return named_size(node.attr, value, of_letters=machine.counts_letters)


def _call(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(node, ast.Call):
        return UNKNOWN
    machine.step()
    if isinstance(node.func, ast.Name) and node.func.id == "super" and frame.home is not None:
        return machine.call(Named("super"), [frame.owner, frame.home], {})
    target = evaluate(machine, frame, node.func)
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
        elif isinstance(value, dict):
            named.update({key: item for key, item in value.items() if isinstance(key, str)})
    if isinstance(node.func, ast.Attribute) and node.func.attr == "save_hyperparameters":
        given = {key: value for key, value in frame.names.items() if value is not frame.owner}
        assign_attribute(frame.owner, "hparams", given)  # Lightning keeps what the constructor was given
        return None
    if not machine.building and not machine.running:
        machine.line, machine.program = node.lineno, frame.program
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            machine.add_option(places, named)
    return called_size(node, machine.call(target, places, named), of_letters=machine.counts_letters)


def _sequence(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    found: list[Value] = []
    for item in node.elts[:MAX_LIST] if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []:
        if isinstance(item, ast.Starred):
            found.extend(items_of(evaluate(machine, frame, item.value))[:MAX_LIST])
        else:
            found.append(evaluate(machine, frame, item))
    return found[:MAX_LIST]


def _dictionary(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    found: dict[Any, Value] = {}
    if isinstance(node, ast.Dict):
        for key, value in list(zip(node.keys, node.values, strict=True))[:MAX_LIST]:
            held = evaluate(machine, frame, value)
            name = evaluate(machine, frame, key) if key is not None else None
            if key is None and isinstance(held, dict):
                found.update(held)
            elif isinstance(name, (str, int, float)):
                found[name] = held
    return found


def _comprehension(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        return UNKNOWN
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
    """Whether a list holds numbers (known or not), or rows of them, alone: of a long one only its length says anything of a network."""
    return all(
        isinstance(value, (int, float))
        or value is UNKNOWN
        or (isinstance(value, list) and all(isinstance(item, (int, float)) or item is UNKNOWN for item in value))
        for value in values
    )


def _compare(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(node, ast.Compare):
        return UNKNOWN
    left = evaluate(machine, frame, node.left)
    for sign, other in zip(node.ops, node.comparators, strict=True):
        right = evaluate(machine, frame, other)
        holds = compared(sign, left, right)
        if holds is not True:
            return UNKNOWN if holds is None else False
        left = right
    return True


def _joined(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    value: Value = UNKNOWN
    for part in node.values if isinstance(node, ast.BoolOp) else []:
        value = evaluate(machine, frame, part)
        holds = truth(value)
        if isinstance(node, ast.BoolOp) and holds is isinstance(node.op, ast.Or) and holds is not None:
            return value
        if holds is None and isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            rest = [truth(evaluate(machine, frame, other)) for other in node.values]
            return False if False in rest else UNKNOWN
        if holds is None and value is not UNKNOWN:
            return value
    return value


def _constant(_machine: Machine, _frame: Frame, node: ast.expr) -> Value:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN) else UNKNOWN


def _arithmetic(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(node, ast.BinOp):
        return UNKNOWN
    return binary(machine, node.op, evaluate(machine, frame, node.left), evaluate(machine, frame, node.right))


def _other(machine: Machine, frame: Frame, node: ast.expr) -> Value:
    """Return conditional and unary expressions, subscripts, lambdas, and texts that are put together."""
    if isinstance(node, ast.IfExp):
        holds = truth(evaluate(machine, frame, node.test))
        value = evaluate(machine, frame, node.orelse if holds is False else node.body)
        other = evaluate(machine, frame, node.orelse) if holds is None and value is UNKNOWN else None
        return other if other is not None else value
    if isinstance(node, ast.UnaryOp):
        return unary(node.op, evaluate(machine, frame, node.operand))
    if isinstance(node, ast.Subscript):
        return _item(machine, frame, node)
    if isinstance(node, ast.Lambda):
        return Function(node, frame.program, {**frame.around, **frame.names}, None, frame.home)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        values = [evaluate(machine, frame, part) for part in parts]
        known = all(isinstance(value, (str, int, float)) for value in values)
        return "".join(str(value) for value in values)[:MAX_TEXT] if known else UNKNOWN
    if isinstance(node, ast.NamedExpr):
        frame.names[node.target.id] = evaluate(machine, frame, node.value)
        return frame.names[node.target.id]
    return evaluate(machine, frame, node.value) if isinstance(node, ast.Await) else UNKNOWN


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
    if isinstance(held, (list, str)):
        return held[index] if isinstance(index, int) and -len(held) <= index < len(held) else UNKNOWN
    if isinstance(held, dict):
        if isinstance(index, str) and index not in held and (entered := machine.registered(index)) is not None:
            return entered
        if isinstance(index, str) and index not in held:  # filled from a file as the program runs
            return attribute(machine, UNKNOWN, index)
        return held.get(index, UNKNOWN) if isinstance(index, (str, int, float)) else UNKNOWN
    if isinstance(owner, Named) and owner.last in {"__dict__", "modules"} and isinstance(index, str):
        return global_value(machine, frame, index) if index.isidentifier() else UNKNOWN
    if isinstance(owner, Counted):
        return owner
    return attribute(machine, UNKNOWN, index) if isinstance(index, str) and owner is UNKNOWN else UNKNOWN


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


_HANDLERS: Mapping[type[ast.expr], Callable[[Machine, Frame, ast.expr], Value]] = {
    ast.Name: _name, ast.Attribute: _attribute, ast.Call: _call, ast.List: _sequence, ast.Tuple: _sequence, ast.Set: _sequence,
    ast.Dict: _dictionary, ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.SetComp: _comprehension,
    ast.DictComp: _comprehension, ast.Compare: _compare, ast.BoolOp: _joined, ast.Constant: _constant, ast.BinOp: _arithmetic,
    ast.IfExp: _other, ast.UnaryOp: _other, ast.Subscript: _other, ast.Lambda: _other, ast.JoinedStr: _other,
    ast.NamedExpr: _other, ast.Await: _other,
}  # fmt: skip
