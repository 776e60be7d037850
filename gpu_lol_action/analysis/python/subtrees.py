"""What stands in a few statements or expressions, without the functions and classes that are defined among them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def nodes_in(begun: Iterable[ast.AST], most: int) -> Iterator[ast.AST]:
    """Yield nodes and all that stands in them, in order; at most so many, without recursion."""
    pending = list(begun)[::-1]
    for _ in range(most):
        if not pending:
            return
        node = pending.pop()
        if not isinstance(node, _DEFINED):
            yield node
            pending += list(ast.iter_child_nodes(node))[::-1]
