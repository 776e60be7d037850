"""What of a program's tree a reader of networks needs: its classes, functions, module-level values, and where names come from."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.python_syntax import parse_cost, parse_program

MAX_CHARACTERS = 200_000
MAX_KEPT = 64
"""Programs that are kept for the next run that imports them: no more than one run may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One program: its statements, and by name its classes, functions, assigned values, and what it imports.

    ``imports`` has the dotted origin of each name. ``cost`` is what parsing took, in bytes of ordinary code.
    """

    source: Source
    body: Sequence[ast.stmt]
    classes: Mapping[str, ast.ClassDef]
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]
    values: Mapping[str, ast.expr]
    imports: Mapping[str, str]
    cost: int

    @property
    def stem(self) -> str:
        """The module's own word: that of the folder for a package."""
        stem = self.source.name.rpartition(".")[0]
        return self.source.folder.rpartition("/")[2] if stem == "__init__" else stem


@functools.lru_cache(maxsize=MAX_KEPT)
def program_of(source: Source) -> Program | None:
    """Return a program's outline; None where it is too long or cannot be parsed."""
    text = source.text
    if source.code is None or len(text) > MAX_CHARACTERS:
        return None
    tree = parse_program(text)
    if isinstance(tree, str):
        return None
    classes: dict[str, ast.ClassDef] = {}
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    values: dict[str, ast.expr] = {}
    imports: dict[str, str] = {}
    for node in _statements(tree.body):
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(_origins(node))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            values.setdefault(node.target.id, node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = node.value
    return Program(source, tree.body, classes, functions, values, imports, parse_cost(text))


def _statements(body: Sequence[ast.stmt], depth: int = 0) -> list[ast.stmt]:
    """Return the statements of a module, with those under ``try`` and ``if``; not those of the main guard."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if depth < 3 and isinstance(node, ast.Try):
            found += _statements([*node.body, *(s for handler in node.handlers for s in handler.body)], depth + 1)
        elif depth < 3 and isinstance(node, ast.If) and not _is_main(node):
            found += _statements([*node.body, *node.orelse], depth + 1)
    return found


def _is_main(node: ast.If) -> bool:
    return (
        isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name) and node.test.left.id == "__name__"
    )


def _origins(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    if isinstance(node, ast.Import):
        return {alias.asname: alias.name for alias in node.names if alias.asname} | {
            alias.name.split(".")[0]: alias.name.split(".")[0] for alias in node.names if not alias.asname
        }
    module = node.module or ""
    return {alias.asname or alias.name: f"{module}.{alias.name}".strip(".") for alias in node.names}
