"""Plain arithmetic of a program as a number, within bounds: ``12 * 8``, ``2**20``, ``-1``."""

from __future__ import annotations

import ast
import math

MAX_NUMBER = 1e15
"""Past it nothing is a size, a count or a rate, and arithmetic would overflow or grow without end."""


def number_of(node: ast.AST, depth: int = 0) -> float | int | None:
    """Return what plain arithmetic gives (``12 * 8``, ``2**20``, ``-1``), within bounds."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return _bounded(node.value)
    if depth > 8:
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand, depth + 1)
        return -inner if inner is not None else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = number_of(node.left, depth + 1), number_of(node.right, depth + 1)
    if left is None or right is None:
        return None
    result = _arithmetic(node.op, left, right)
    return _bounded(result) if result is not None else None


def _bounded(number: float) -> float | int | None:
    return number if abs(number) < MAX_NUMBER else None


def _arithmetic(operator: ast.operator, left: float, right: float) -> float | int | None:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.FloorDiv) and right:
        return left // right
    if isinstance(operator, ast.Div) and right:
        return left / right
    if isinstance(operator, ast.Pow) and 0 <= right <= 40 and abs(left) <= 10:
        power = math.pow(abs(left), right) if left else 0.0
        return int(power) if power.is_integer() else power
    return None
