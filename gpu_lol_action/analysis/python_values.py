"""Expressions of a program as text where they are constant: literals, plain arithmetic, names that stand for a default."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

MAX_TEXT = 300
MAX_NUMBER = 1e15
"""Past it nothing is a size, a count or a rate, and arithmetic would overflow or grow without end."""


@dataclass(frozen=True, slots=True)
class Value:
    """An argument or default as text; ``reference`` is the last word of a name that stands for it (``args.model``)."""

    text: str | None
    reference: str | None = None


def dotted_name(node: ast.AST) -> str | None:
    """Return ``a.b.c`` for a chain of names; a call in the middle counts as its own name (``Model().to``)."""
    words: list[str] = []
    for _ in range(12):
        if isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(words)])
        else:
            break
    return ".".join(reversed(words)) or None


def value_of(node: ast.AST, depth: int = 0) -> Value:
    """Return an expression as text, or the name that stands for it; neither where it can only be computed."""
    if isinstance(node, ast.Constant):
        return Value(_constant(node.value))
    if depth > 4:
        return Value(None)
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        number = _number(node)
        return Value(f"{number:g}" if isinstance(number, float) else str(number) if number is not None else None)
    if isinstance(node, ast.Name):
        return Value(None, node.id)
    if isinstance(node, ast.Attribute):
        dotted = dotted_name(node) or ""
        return Value(dotted, None) if dotted.startswith(("torch.", "jnp.", "np.")) else Value(None, node.attr)
    if isinstance(node, (ast.List, ast.Tuple)):
        parts = [value_of(item, depth + 1).text for item in node.elts[:40]]
        return Value(",".join(part for part in parts if part is not None)[:MAX_TEXT] or None)
    if isinstance(node, ast.Call):
        return _from_environment(node, depth)
    if isinstance(node, ast.IfExp):
        return value_of(node.body, depth + 1)
    return Value(None)


def _constant(value: object) -> str | None:
    """Return a literal's text; Python refuses to write out an integer of thousands of digits, and so do we."""
    if isinstance(value, int) and abs(value) >= MAX_NUMBER:
        return None
    return str(value)[:MAX_TEXT] if isinstance(value, (str, int, float)) else None


def _from_environment(node: ast.Call, depth: int) -> Value:
    """Return the fallback of ``os.environ.get("X", "fallback")``, ``int(...)`` around it, or of ``field(default=...)``."""
    name = (dotted_name(node.func) or "").rpartition(".")[2]
    if name in {"get", "getenv"} and len(node.args) == 2:
        return value_of(node.args[1], depth + 1)
    if name in {"int", "float", "str", "Path"} and len(node.args) == 1:
        return value_of(node.args[0], depth + 1)
    if name in {"field", "Field", "Option", "Argument"}:
        default = next((word.value for word in node.keywords if word.arg == "default"), None)
        return value_of(default, depth + 1) if default is not None else Value(None)
    return Value(None)


def _number(node: ast.AST, depth: int = 0) -> float | int | None:
    """Return what plain arithmetic gives (``12 * 8``, ``2**20``, ``-1``), within bounds."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return _bounded(node.value)
    if depth > 8:
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand, depth + 1)
        return -inner if inner is not None else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left, depth + 1), _number(node.right, depth + 1)
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
