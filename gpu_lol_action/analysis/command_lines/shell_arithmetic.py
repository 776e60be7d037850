r"""What a shell computes of variables that are known: sums (``$((nodes * 8))``), and how many a list with commas holds.

The cards that a script leaves visible are counted in a few ways: ``$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\n' | wc -l)``,
``$(echo $CUDA_VISIBLE_DEVICES | awk -F ',' '{print NF}')``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from gpu_lol_action.domain.patterns import regex

MAX_TEXT, MAX_DEPTH, MOST = 200, 12, 10**12
_EXPRESSION = regex(r"\$\(\(([^\n;|&<>'\"]{1,200}?)\)\)(?!\))")
_NAME = regex(r"\$?\{?\b([A-Za-z_]\w{0,60})\b\}?")
_COUNTED = regex(
    r"\$\(\s*echo\s+\"?\$\{?([A-Za-z_]\w{0,60})\}?\"?\s*\|\s*"
    r"(?:tr\s+['\"]?,['\"]?\s+['\"]?\\n['\"]?\s*\|\s*wc\s+-l|awk\s+-F\s?['\"]?,['\"]?\s+['\"]\{\s?print\s+NF\s?;?\s?\}['\"])\s*\)"
)
_LISTED = regex(r"\d{1,3}(?:,\d{1,3}){0,63}")
_PLAIN = regex(r"[\d\s+*/%()-]+")
_DO: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def computed(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with its sums worked out; one with anything unknown, or too large, stays as it is."""
    if "$((" not in text:
        return text
    return _EXPRESSION.sub(lambda found: _result(found[1], variables) or found[0], text, count=20)


def counted(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the numbers put in that count a known list of numbers with commas."""
    if "$(" not in text or "echo" not in text:
        return text
    return _COUNTED.sub(lambda found: _length(variables.get(found[1], "")) or found[0], text, count=20)


def _length(listed: str) -> str | None:
    bare = listed.strip().strip("\"'")
    return str(bare.count(",") + 1) if _LISTED.fullmatch(bare) else None


def _result(expression: str, variables: Mapping[str, str]) -> str | None:
    put = _NAME.sub(lambda found: variables.get(found[1], found[0]).strip(), expression)[:MAX_TEXT]
    if not _PLAIN.fullmatch(put):
        return None
    try:
        number = _value(ast.parse(put.strip(), mode="eval").body, MAX_DEPTH)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return str(number)


def _value(node: ast.expr, depth: int) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value <= MOST:
        return node.value
    if depth and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, depth - 1)
    do = _DO.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if not depth or do is None or not isinstance(node, ast.BinOp):
        raise ValueError("no sum of whole numbers")
    number = do(_value(node.left, depth - 1), _value(node.right, depth - 1))
    if abs(number) > MOST:
        raise ValueError("too large")
    return number
