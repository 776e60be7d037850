"""Operators and conditions on what is known of a program's values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from gpu_lol_action.analysis.networks.forms import rows_of
from gpu_lol_action.analysis.networks.machine import MAX_LIST, Machine
from gpu_lol_action.analysis.networks.plain import formatted
from gpu_lol_action.analysis.networks.tensors import combine, keep_differences, matrix_product
from gpu_lol_action.analysis.networks.values import (
    DIFFERENCE,
    UNKNOWN,
    Class,
    Counted,
    Instance,
    Layer,
    Named,
    Tensor,
    Value,
)

MAX_TEXT = 400
MOST = 1e13
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_PLAIN = (int, float, str, bool, type(None))
_HELD = (*_PLAIN, list, dict)


def truth(value: Value) -> bool | None:
    """Return whether a value holds as a condition; None where it is not known."""
    if value is UNKNOWN or isinstance(value, (Tensor, Named)):
        return None
    return bool(value) if isinstance(value, _HELD) else True


def items_of(value: Value) -> list[Value]:
    """Return what a loop over a value yields; one unknown round where it is not known."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, str):
        return list(value[:MAX_LIST])
    if isinstance(value, Instance) and (value.items or value.kind in {"Sequential", "ModuleList"}):
        return list(value.row)
    if isinstance(value, Tensor):
        return rows_of(value)
    return [value] if isinstance(value, (Counted, Layer)) else [UNKNOWN]


def binary(machine: Machine, sign: ast.operator, left: Value, right: Value) -> Value:
    """Return what an operator gives, within bounds."""
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if isinstance(sign, ast.MatMult) and isinstance(left, Tensor) and isinstance(right, Tensor):
            return machine.kept.keep(matrix_product(left, right))
        both = isinstance(left, Tensor) and isinstance(right, Tensor)
        result = combine(left, right)
        if isinstance(sign, (ast.Mult, ast.Div, ast.Pow)):
            keep_differences(machine, (left, right))
        elif both and isinstance(sign, ast.Sub):
            result.made_by = DIFFERENCE
        return machine.kept.keep(result) if both and isinstance(sign, (ast.Mult, ast.Div)) else result
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and isinstance(sign, ast.Add):
        return [*left, *right][:MAX_LIST]
    if isinstance(left, (list, tuple)) and isinstance(right, int) and isinstance(sign, ast.Mult):
        return (list(left) * min(max(right, 0), MAX_LIST))[:MAX_LIST]
    if isinstance(left, str) and isinstance(right, str) and isinstance(sign, ast.Add):
        return (left + right)[:MAX_TEXT]
    if isinstance(left, str) and isinstance(sign, ast.Mod):
        return formatted(left, "%", list(right) if isinstance(right, (list, tuple)) else [right])
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _arithmetic(sign, left, right)
    return UNKNOWN


def _arithmetic(sign: ast.operator, left: float, right: float) -> Value:
    result: float
    if isinstance(sign, ast.Add):
        result = left + right
    elif isinstance(sign, ast.Sub):
        result = left - right
    elif isinstance(sign, ast.Mult):
        result = left * right
    elif isinstance(sign, (ast.FloorDiv, ast.Div, ast.Mod)) and right:
        result = (
            left // right
            if isinstance(sign, ast.FloorDiv)
            else left % right
            if isinstance(sign, ast.Mod)
            else left / right
        )
    elif isinstance(sign, ast.Pow) and 1e-6 < abs(left) <= 1024 and abs(right) <= 16:
        powered = left**right
        result = powered if isinstance(powered, (int, float)) else 0.0
    else:
        return UNKNOWN
    return result if abs(result) < MOST else UNKNOWN


def compared(sign: ast.cmpop, left: Value, right: Value) -> bool | None:
    """Return whether a comparison holds; None where it is not known."""
    if isinstance(sign, (ast.Is, ast.IsNot)):
        if UNKNOWN in (left, right) or (isinstance(left, Named) and not isinstance(right, (Named, Class))):
            return None
        same = (
            _is_kind(left, right)
            if isinstance(left, Named)
            else left is right or (isinstance(left, _PLAIN) and isinstance(right, _PLAIN) and left == right)
        )
        return same if isinstance(sign, ast.Is) else not same
    if isinstance(sign, (ast.In, ast.NotIn)):
        if isinstance(left, (Class, Named)) and isinstance(right, list):
            within = any(_is_kind(left, item) for item in right) if UNKNOWN not in right else None
            return within if within is None or isinstance(sign, ast.In) else not within
        if left is UNKNOWN or not isinstance(left, _PLAIN):
            return None
        within = _within(left, right)
        return within if within is None or isinstance(sign, ast.In) else not within
    compare = _COMPARISONS[type(sign)]
    if isinstance(left, Named) and isinstance(right, Named) and isinstance(sign, (ast.Eq, ast.NotEq)):
        return compare(left.last, right.last)
    if isinstance(left, list) and isinstance(right, list) and isinstance(sign, (ast.Eq, ast.NotEq)):
        flat = all(
            isinstance(item, _PLAIN) for item in (*left, *right)
        )  # lists in lists may be many more than they look
        return compare(left, right) if flat else None
    if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN):
        return None
    if (
        isinstance(left, str) is not isinstance(right, str)
        and not isinstance(left, bool)
        and not isinstance(right, bool)
    ):
        left, right = str(left), str(right)  # settings do not tell "1" from 1
    numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
    is_equality = isinstance(sign, (ast.Eq, ast.NotEq))
    return (
        compare(left, right) if numbers or is_equality or (isinstance(left, str) and isinstance(right, str)) else None
    )


def _is_kind(left: Value, right: Value) -> bool:
    """Whether two classes are one: a library's by its last word."""
    return left is right or (isinstance(left, Named) and isinstance(right, Named) and left.last == right.last)


def _within(left: Value, right: Value) -> bool | None:
    if isinstance(right, str):
        return str(left) in right
    if isinstance(right, (list, dict)):
        return left in right if UNKNOWN not in right else None
    return left == right if isinstance(right, (int, float)) else None


def unary(sign: ast.unaryop, value: Value) -> Value:
    """Return what ``not`` and signs give."""
    if isinstance(sign, ast.Not):
        holds = truth(value)
        return UNKNOWN if holds is None else not holds
    if isinstance(sign, ast.USub) and isinstance(value, (int, float)):
        return -value
    return value if isinstance(value, Tensor) else UNKNOWN
