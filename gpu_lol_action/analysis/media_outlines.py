"""What of a program's tree a reader of networks needs: its networks' classes, its functions, the calls that may build one."""

from __future__ import annotations

import ast
import functools
from collections import deque
from dataclasses import dataclass
from typing import TypeGuard

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.media_numbers import last_word
from gpu_lol_action.analysis.python_syntax import parse_cost, parse_program

MAX_CHARACTERS = 200_000
MAX_KEPT = 40
"""Programs whose outlines are kept for the next run that imports them: no more than one run may have."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
_BASES = (
    "Module",
    "LightningModule",
    "Model",
    "Layer",
    "Sequential",
    "TorchModelV2",
    "BaseFeaturesExtractor",
    "MessagePassing",
    "ModelMixin",
)
# Nodes without others inside that are looked for: most of any tree.
_LEAVES = frozenset({
    ast.Name, ast.Constant, ast.alias, ast.Import, ast.ImportFrom, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal,
    *(kind for group in (ast.expr_context, ast.operator, ast.boolop, ast.cmpop, ast.unaryop) for kind in group.__subclasses__()),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outline:
    """One program: classes of networks, functions of the module, and calls outside of the module's networks with their last words.

    ``cost`` is what parsing it took, in bytes of ordinary code.
    """

    classes: tuple[ast.ClassDef, ...]
    functions: tuple[Function, ...]
    calls: tuple[tuple[str, ast.Call], ...]
    cost: int


@functools.lru_cache(maxsize=MAX_KEPT)
def outline_of(source: Source) -> Outline | None:
    """Return a program's outline; None where it is too long or cannot be parsed."""
    text = source.text
    if source.code is None or len(text) > MAX_CHARACTERS:
        return None
    tree = parse_program(text)
    return _outline(tree, parse_cost(text)) if not isinstance(tree, str) else None


def _outline(tree: ast.Module, cost: int) -> Outline:
    """Walk a tree, outer nodes first."""
    classes: list[ast.ClassDef] = []
    calls: list[tuple[str, ast.Call]] = []
    networks = {id(node) for node in tree.body if _is_network(node)}
    pending: deque[tuple[ast.AST, bool]] = deque([(tree, False)])
    while pending:
        node, is_inside = pending.popleft()
        if _is_network(node):
            classes.append(node)
            is_inside = is_inside or id(node) in networks
        elif isinstance(node, ast.Call) and not is_inside and (name := last_word(node.func)):
            calls.append((name, node))
        for value in node.__dict__.values():
            if isinstance(value, list):
                pending.extend(
                    (item, is_inside) for item in value if isinstance(item, ast.AST) and type(item) not in _LEAVES
                )
            elif isinstance(value, ast.AST) and type(value) not in _LEAVES:
                pending.append((value, is_inside))
    functions = tuple(node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return Outline(tuple(classes), functions, tuple(calls), cost)


def _is_network(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and any(last_word(base).endswith(_BASES) for base in node.bases)
