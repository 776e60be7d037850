"""Numbers that expressions of a constructor stand for: literals, arithmetic, names bound before, defaults of options."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.settings import as_number

MAX_DEPTH = 12
MAX_LOOP = 128
Number = float | int
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


@dataclass(slots=True)
class Numbers:
    """Numbers and lists of numbers by name, of a body and of its object (``self``); ``sources`` hold the options' defaults."""

    sources: Sequence[Source]
    names: dict[str, Number | list[Number]] = field(default_factory=dict)
    own: dict[str, Number | list[Number]] = field(default_factory=dict)
    options: dict[str, Number | list[Number] | None] = field(default_factory=dict)
    """The options' defaults that were asked for: of the same sources, so that all readers of a program may share them."""

    def inner(self, names: dict[str, Number | list[Number]]) -> Numbers:
        """Return the numbers of a helper's body: its own names, the same object."""
        return Numbers(self.sources, names, self.own, self.options)

    def items(self, node: ast.expr) -> list[Number | None]:
        """Return what a loop runs over: a range, a list of numbers, an enumeration; one unknown round where it is not known."""
        if (
            isinstance(node, ast.Call)
            and last_word(node.func) in {"range", "enumerate", "reversed", "zip"}
            and node.args
        ):
            if last_word(node.func) != "range":
                return list(self.items(node.args[0]))
            bounds = [self.value(argument) for argument in node.args[:3]]
            whole = [int(bound) for bound in bounds if isinstance(bound, (int, float))]
            if len(whole) == len(bounds) and (len(whole) < 3 or whole[2]):
                return list(range(*whole)[:MAX_LOOP])  # a slice of a range: never written out
            return [None]
        value = self.value(node)
        return list(value[:MAX_LOOP]) if isinstance(value, list) else [None]

    def truth(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds; None where it is not known."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.BoolOp):
            return self._joined(node)
        value = self.value(node)
        if isinstance(node, ast.Constant) and node.value is None:
            return False
        return bool(value) if isinstance(value, (int, float)) else None

    def _joined(self, node: ast.BoolOp) -> bool | None:
        parts = [self.truth(part) for part in node.values]
        decides = isinstance(node.op, ast.Or)
        return decides if decides in parts else None if None in parts else not decides

    def _compared(self, node: ast.Compare) -> bool | None:
        left, right = self.value(node.left), self.value(node.comparators[0])
        compare = _COMPARISONS.get(type(node.ops[0]))
        if (
            compare is None
            or len(node.ops) > 1
            or isinstance(left, list)
            or isinstance(right, list)
            or left is None
            or right is None
        ):
            return None
        return compare(left, right)

    def value(self, node: ast.expr, depth: int = 0) -> Number | list[Number] | None:
        """Return the number, or list of numbers, that an expression is; None where it is not known."""
        if depth > MAX_DEPTH:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (int, float)) and abs(node.value) < 1e9 else None
        if isinstance(node, ast.Name):
            return self.names[node.id] if node.id in self.names else self._option(node.id)
        if isinstance(node, ast.Attribute):
            return self.own[node.attr] if node.attr in self.own else self._option(node.attr)
        if isinstance(node, (ast.List, ast.Tuple)):
            inner = [first_of(self.value(item, depth + 1)) for item in node.elts[:MAX_LOOP]]
            return [item for item in inner if item is not None] if None not in inner else None
        return self._compound(node, depth + 1)

    def _compound(self, node: ast.expr, depth: int) -> Number | list[Number] | None:
        """Return what an expression of other expressions is."""
        if isinstance(node, ast.BinOp):
            return _joined(node.op, self.value(node.left, depth), self.value(node.right, depth))
        if isinstance(node, ast.Subscript):
            whole, index = self.value(node.value, depth), self.value(node.slice, depth)
            if isinstance(whole, list) and isinstance(index, int) and -len(whole) <= index < len(whole):
                return whole[index]
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.value(node.operand, depth)
            return -inner if isinstance(inner, (int, float)) else None
        if isinstance(node, ast.Call) and last_word(node.func) in {"int", "len", "max", "min"} and node.args:
            first = self.value(node.args[0], depth)
            return len(first) if isinstance(first, list) and last_word(node.func) == "len" else first
        if isinstance(node, ast.IfExp):
            return self.value(node.orelse if self.truth(node.test) is False else node.body, depth)
        if isinstance(node, ast.BoolOp):
            return next((value for item in node.values if (value := self.value(item, depth)) is not None), None)
        return None

    def _option(self, name: str) -> Number | list[Number] | None:
        """Return the default of an option or constant of that name in any of the programs."""
        if name not in self.options:
            self.options[name] = self._default(name)
        return self.options[name]

    def _default(self, name: str) -> Number | list[Number] | None:
        for source in self.sources:
            default = source.code.default(name) if source.code else None
            if default is not None:
                parts = [as_number(part) for part in default.text.split(",")]
                whole = [part for part in parts if part is not None]
                if whole and len(whole) == len(parts):
                    return whole[0] if len(whole) == 1 else list(whole)
        return None


def _joined(
    sign: ast.operator, left: Number | list[Number] | None, right: Number | list[Number] | None
) -> Number | list[Number] | None:
    """Return a sum of lists, a list repeated, or plain arithmetic."""
    if isinstance(left, list) and isinstance(right, list) and isinstance(sign, ast.Add):
        return [*left, *right][:MAX_LOOP]
    if isinstance(left, list) and isinstance(right, int) and isinstance(sign, ast.Mult):
        return (left * min(max(right, 0), MAX_LOOP))[:MAX_LOOP]
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return arithmetic(sign, left, right)
    return None


def arithmetic(sign: ast.operator, left: Number, right: Number) -> Number | None:
    """Return what plain arithmetic gives, within bounds."""
    if isinstance(sign, ast.Add):
        result: Number = left + right
    elif isinstance(sign, ast.Sub):
        result = left - right
    elif isinstance(sign, ast.Mult):
        result = left * right
    elif isinstance(sign, (ast.FloorDiv, ast.Div)) and right:
        result = left // right if isinstance(sign, ast.FloorDiv) else left / right
    elif isinstance(sign, ast.Pow) and abs(left) <= 64 and 0 <= right <= 16:
        result = left**right
    else:
        return None
    return result if abs(result) < 1e12 else None


def first_of(value: Number | list[Number] | None) -> Number | None:
    """Return a number, or the first of several."""
    return (value[0] if value else None) if isinstance(value, list) else value


def last_word(node: ast.expr) -> str:
    """Return the last word of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
