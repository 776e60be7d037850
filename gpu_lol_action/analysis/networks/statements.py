"""Statements of other people's programs, followed in order: loops over what is known, the likelier branch of what is not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.networks.attributes import assign_attribute
from gpu_lol_action.analysis.networks.expressions import evaluate
from gpu_lol_action.analysis.networks.machine import MAX_DEPTH, MAX_LIST, Frame, Machine, OtherRankError
from gpu_lol_action.analysis.networks.operators import binary, compared, items_of, truth
from gpu_lol_action.analysis.networks.programs import origins_of
from gpu_lol_action.analysis.networks.values import UNKNOWN, Class, Function, Instance, Layer, Value

Signal = tuple[str, Value] | None
"""What ends a body before its last statement: ``return`` with a value, ``break``, ``continue``, ``raise``."""
MAX_WHILE = 64
_STEPS = frozenset({"backward", "zero_grad", "item"})  # `loss.item()`: what a round says of itself
MOST_TRAINED = 2
_IDLE = ((2, 40), (64, 4))
"""Rounds of a loop that builds nothing, and the steps of one from which on so many are enough: filling a list takes fewer."""


def run_body(machine: Machine, function: Function, frame: Frame) -> Value:
    """Run a function's statements; return what it returns. Too deep: ``UNKNOWN``."""
    if machine.depth >= MAX_DEPTH:
        return UNKNOWN
    machine.depth += 1
    machine.called.add(id(function.node))
    try:
        if isinstance(function.node, ast.Lambda):
            return evaluate(machine, frame, function.node.body)
        signal = execute(machine, frame, function.node.body)
        return signal[1] if signal is not None and signal[0] == "return" else None
    finally:
        machine.depth -= 1


def execute(machine: Machine, frame: Frame, body: Sequence[ast.stmt]) -> Signal:
    """Run statements in order until one ends the body."""
    for node in body:
        machine.step()
        follow = _STATEMENTS.get(type(node))
        signal = follow(machine, frame, node) if follow is not None else None
        if signal is not None:
            return signal
    return None


def _expression(machine: Machine, frame: Frame, node: ast.Expr) -> None:
    evaluate(machine, frame, node.value)
    called = node.value.func if isinstance(node.value, ast.Call) else None
    is_run = isinstance(called, ast.Name) and called.id == "exec"
    path = frame.program.source.path
    if is_run and machine.modules.get(path) is frame.names and path not in machine.overlaid:
        machine.overlaid.add(path)
        _overlay(machine, frame)


def _overlay(machine: Machine, frame: Frame) -> None:
    """Set a module's variables to what the command or its configuration says: a file of theirs was run among them (nanoGPT's configurator)."""
    plain = [name for name, value in frame.names.items() if isinstance(value, (int, float, str))]
    for name in plain:
        said = machine.option(name)
        if machine.is_said(name):
            frame.names[name] = said


def _return(machine: Machine, frame: Frame, node: ast.Return) -> Signal:
    return "return", evaluate(machine, frame, node.value) if node.value is not None else None


def _import(machine: Machine, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    """Bind what a function imports for itself; a module's own imports are known by their names."""
    if machine.modules.get(frame.program.source.path) is frame.names:
        return
    for name, origin in origins_of(node).items():
        if name not in frame.program.imports:
            frame.names[name] = machine.of_origin(origin, name, frame.program)


def _with(machine: Machine, frame: Frame, node: ast.With | ast.AsyncWith) -> Signal:
    for item in node.items:
        value = evaluate(machine, frame, item.context_expr)
        if item.optional_vars is not None:
            assign(machine, frame, item.optional_vars, value)
    return execute(machine, frame, node.body)


def _try(machine: Machine, frame: Frame, node: ast.Try) -> Signal:
    signal = execute(machine, frame, node.body)
    if signal is not None and signal[0] == "raise":
        signal = execute(machine, frame, node.handlers[0].body) if node.handlers else None
    return signal or execute(machine, frame, [*node.orelse, *node.finalbody])


def _define(_machine: Machine, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    frame.names[node.name] = Function(node, frame.program, {**frame.around, **frame.names}, None, frame.home)


def _define_class(_machine: Machine, frame: Frame, node: ast.ClassDef) -> None:
    frame.names[node.name] = Class(node, frame.program)


def _assign(machine: Machine, frame: Frame, node: ast.Assign) -> None:
    machine.line = node.lineno
    value = evaluate(machine, frame, node.value)
    for target in node.targets:
        assign(machine, frame, target, value)


def _annotate(machine: Machine, frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        machine.line = node.lineno
        assign(machine, frame, node.target, evaluate(machine, frame, node.value))


def _augment(machine: Machine, frame: Frame, node: ast.AugAssign) -> None:
    machine.line = node.lineno
    value = evaluate(machine, frame, node.value)
    before = evaluate(machine, frame, node.target)
    assign(machine, frame, node.target, binary(machine, node.op, before, value))


def _branch(machine: Machine, frame: Frame, node: ast.If) -> Signal:
    """Run the branch that holds; of an unknown condition the first, but for one that only leaves."""
    holds = truth(evaluate(machine, frame, node.test))
    if holds is None and isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return execute(machine, frame, node.orelse)
    return execute(machine, frame, node.orelse if holds is False else node.body)


def _loop(machine: Machine, frame: Frame, node: ast.For | ast.AsyncFor) -> Signal:
    values = items_of(evaluate(machine, frame, node.iter))[:MAX_LIST]
    before = machine.built, machine.steps
    for turn, value in enumerate(values):
        if _is_idle(machine, before, turn) or (turn >= MOST_TRAINED and _trains(machine, node)):
            break
        machine.step()
        assign(machine, frame, node.target, value)
        signal = execute(machine, frame, node.body)
        if signal is not None and signal[0] == "break":
            return None
        if signal is not None and signal[0] != "continue":
            return signal
    return execute(machine, frame, node.orelse)


def _match(machine: Machine, frame: Frame, node: ast.Match) -> Signal:
    """Run the case that holds; of an unknown value the first."""
    value = evaluate(machine, frame, node.subject)
    for case in node.cases:
        if _fits(machine, frame, case.pattern, value) is not False and (
            case.guard is None or truth(evaluate(machine, frame, case.guard)) is not False
        ):
            return execute(machine, frame, case.body)
    return None


def _fits(machine: Machine, frame: Frame, pattern: ast.pattern, value: Value) -> bool | None:
    """Return whether a value is what a case asks for; None where that is not known."""
    if isinstance(pattern, ast.MatchOr):
        fits = [_fits(machine, frame, each, value) for each in pattern.patterns]
        return True if True in fits else None if None in fits else False
    if isinstance(pattern, ast.MatchAs):
        if pattern.name is not None:
            frame.names[pattern.name] = value
        return True if pattern.pattern is None else _fits(machine, frame, pattern.pattern, value)
    if isinstance(pattern, ast.MatchSingleton):
        return None if value is UNKNOWN else value is pattern.value
    if isinstance(pattern, ast.MatchValue):
        return compared(ast.Eq(), value, evaluate(machine, frame, pattern.value))
    return None


def _while(machine: Machine, frame: Frame, node: ast.While) -> Signal:
    before = machine.built, machine.steps
    for turn in range(MAX_WHILE):
        if _is_idle(machine, before, turn) or (turn >= MOST_TRAINED and _trains(machine, node)):
            break
        holds = truth(evaluate(machine, frame, node.test))
        if holds is False or (turn and holds is None):
            break
        signal = execute(machine, frame, node.body)
        if signal is not None and signal[0] == "break":
            return None
        if signal is not None and signal[0] != "continue":
            return signal
    return None


def _is_idle(machine: Machine, before: tuple[int, int], turn: int) -> bool:
    """Whether these are the rounds of a training: a long body that builds nothing says nothing new the next time."""
    built, left = before
    is_still = machine.built == built and not machine.building and not machine.running
    spent = left - machine.steps
    return is_still and any(turn >= rounds and spent > each * turn for rounds, each in _IDLE)


def _trains(machine: Machine, node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop holds a backward pass: what it builds in a round (to evaluate, to save) it builds in each of them."""
    if machine.building or machine.running:
        return False
    if id(node) not in machine.trained:
        called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
        machine.trained[id(node)] = any(isinstance(each, ast.Attribute) and each.attr in _STEPS for each in called)
    return machine.trained[id(node)]


def assign(machine: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind a name, an attribute, an item, or several of them to a value."""
    if isinstance(target, ast.Name):
        frame.names[target.id] = value
    elif isinstance(target, ast.Attribute):
        assign_attribute(evaluate(machine, frame, target.value), target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(machine, frame, target.value), evaluate(machine, frame, target.slice)
        _put(owner, index, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, frame, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(machine, frame, target.value, value)


def _put(owner: Value, index: Value, value: Value) -> None:
    if isinstance(owner, dict):
        if isinstance(index, (str, int)) and len(owner) < MAX_LIST:
            owner[index] = value
    elif isinstance(owner, Instance) and isinstance(index, str):  # an entry of a ModuleDict
        assign_attribute(owner, index, value)
    elif isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
        owner[index] = value


def _unpack(machine: Machine, frame: Frame, targets: Sequence[ast.expr], value: Value) -> None:
    whole = isinstance(value, (list, tuple)) or (isinstance(value, Layer) is False and value is not UNKNOWN)
    values = items_of(value) if whole else []
    star = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if star is not None and len(values) >= len(targets) - 1:
        behind = len(targets) - star - 1
        middle = values[star : len(values) - behind]
        values = [*values[:star], middle, *values[len(values) - behind :]]
    is_input = machine.running > 0 and machine.input_shape is not None and tuple(values) == machine.input_shape
    if is_input and 3 <= len(targets) <= 5 and len(values) != len(targets) and star is None:
        raise OtherRankError(len(targets))
    if len(values) != len(targets):
        values = [UNKNOWN] * len(targets)
    for target, item in zip(targets, values, strict=True):
        assign(machine, frame, target, item)


_STATEMENTS: Mapping[type[ast.stmt], Callable[[Machine, Frame, Any], Signal]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotate, ast.AugAssign: _augment, ast.Expr: _expression, ast.Return: _return, ast.If: _branch,
    ast.For: _loop, ast.AsyncFor: _loop, ast.While: _while, ast.Match: _match, ast.With: _with, ast.AsyncWith: _with, ast.Try: _try,
    ast.Import: _import, ast.ImportFrom: _import, ast.FunctionDef: _define, ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class, ast.Raise: lambda *_: ("raise", None), ast.Break: lambda *_: ("break", None),
    ast.Continue: lambda *_: ("continue", None),
}  # fmt: skip
"""Each of what its kind of statement takes."""
