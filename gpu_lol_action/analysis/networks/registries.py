"""Registries of a program's own: under which names decorators enter classes and functions (``@MODELS.register_module()``)."""

from __future__ import annotations

import ast

REGISTERS = "register"
"""In the decorators of programs that put something into a registry."""


def registered_names(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return under which names decorators register something: those that they are given, else its own."""
    found: list[str] = []
    for decorator in node.decorator_list[:6]:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        word = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if REGISTERS not in word.lower():
            continue
        given = [*decorator.args, *(w.value for w in decorator.keywords)] if isinstance(decorator, ast.Call) else []
        found += [g.value for g in given if isinstance(g, ast.Constant) and isinstance(g.value, str)] or [node.name]
    return found
