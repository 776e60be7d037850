"""Calls of what a program takes out of a module by its name: ``models.__dict__[arch](...)``, ``getattr(models, arch)(...)``."""

from __future__ import annotations

import ast

from gpu_lol_action.analysis.python.values import Value, dotted_name, value_of

CHOSEN = "__dict__"
"""The last word of such a call's name (``models.__dict__``); the name by which is chosen stands before what is given."""


def chosen(called: ast.expr) -> tuple[str, Value] | None:
    """Return a call's name and the name that it chooses by; None for what is called by its own name."""
    module: ast.expr | None = None
    key: ast.expr = called
    if isinstance(called, ast.Subscript):
        key = called.slice
        if isinstance(called.value, ast.Attribute) and called.value.attr == CHOSEN:
            module = called.value.value
        elif isinstance(called.value, ast.Call) and dotted_name(called.value.func) == "vars":
            module = called.value.args[0] if len(called.value.args) == 1 else None
    elif isinstance(called, ast.Call) and dotted_name(called.func) == "getattr" and len(called.args) in {2, 3}:
        module, key = called.args[:2]
    base = dotted_name(module) if isinstance(module, (ast.Name, ast.Attribute)) else None
    return (f"{base}.{CHOSEN}", value_of(key)) if base is not None else None
