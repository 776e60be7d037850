"""What a setup.py says besides its lists: the Python that it wants, the extensions that it compiles, and which entries a test leaves out."""

from __future__ import annotations

import ast

from gpu_lol_action.analysis.python.values import dotted_name
from gpu_lol_action.domain.patterns import regex

_LIST = regex(r"(?:require|deps|pip)[\w./-]*\.(?:txt|in|pip)$|(?:^|/)requirements/[\w./-]+$")
_EXTENSIONS = frozenset({"CUDAExtension", "CppExtension"})


def python_wanted(tree: ast.Module) -> tuple[str, int]:
    """Return what `python_requires` says, and its line; an empty text and 0 where nothing does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "python_requires" and isinstance(node.value, ast.Constant):
            return str(node.value.value)[:100], node.value.lineno
    return "", 0


def extension_line(tree: ast.Module) -> int:
    """Return the line of the first extension that PyTorch's build tools compile; 0 where there is none."""
    said: list[tuple[ast.expr, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            said.append((node.func, node.lineno))
        elif isinstance(
            node, ast.Assign
        ):  # `extension = CUDAExtension if has_cuda else CppExtension`, called by that name
            values = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
            said += [(value, node.lineno) for value in values]
    lines = [line for name, line in said if (dotted_name(name) or "").rpartition(".")[2] in _EXTENSIONS]
    return min(lines, default=0)


def leaves_out(test: ast.expr, name: str, key: str) -> bool:
    """Whether a comprehension's test on a name leaves out an entry of that key: ``key != "docs"``, ``key not in ["install", "docs"]``."""
    if (
        not isinstance(test, ast.Compare)
        or len(test.ops) != 1
        or not isinstance(test.left, ast.Name)
        or test.left.id != name
    ):
        return False
    said = {node.value for node in ast.walk(test.comparators[0]) if isinstance(node, ast.Constant)}
    is_open = any(isinstance(node, (ast.Name, ast.Call, ast.Attribute)) for node in ast.walk(test.comparators[0]))
    if isinstance(test.ops[0], (ast.NotEq, ast.NotIn)):
        return key in said
    return isinstance(test.ops[0], (ast.Eq, ast.In)) and not is_open and key not in said


def is_list_file(text: str) -> bool:
    """Whether a text is the path of a requirements file."""
    return len(text) < 200 and _LIST.search(text) is not None
