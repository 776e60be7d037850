"""A program's syntax tree node by node: what may say something, when it runs, and the named thing that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gpu_lol_action.analysis.python.defaults import MAX_ENTRIES, target_name
from gpu_lol_action.analysis.python.scan import ALWAYS, IN_FUNCTION, SOMETIMES, forgives
from gpu_lol_action.analysis.python.values import dotted_name, value_of

MAX_NODES = 200_000
ENTRY = ":"
"""Stands before the name of an entry of a registry, of which a run takes one; functions and classes are owners without it."""
PAIR = "::"
"""Stands before the name of one of two alike entries, and between it and the other's: they may also be two parts of one whole."""
LEAST_ENTRIES = 3
LEAST_SHARED = 2
"""Keys that two entries share, at least, and half of either's."""
MAX_FORGIVEN = 6  # exceptions that a context is told to swallow
# except* came with Python 3.11
_TRIES = frozenset({ast.Try, getattr(ast, "TryStar", ast.Try)})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_TURNS = _TRIES | _FUNCTIONS | {ast.If, ast.With, ast.ClassDef, ast.Assign}
"""What runs at another time than what stands around it, or has a name."""
_SAID = frozenset(
    {
        ast.Call,
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.If,
        ast.Dict,
    }
)
# What may hold a statement or a call; names, constants and operators need no visit, which halves the time.
_HOLDERS = (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Dict, ast.List,
            ast.Tuple, ast.Set, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.comprehension, ast.Starred,
            ast.UnaryOp, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, ast.JoinedStr, ast.FormattedValue,
            ast.keyword, ast.withitem, ast.ExceptHandler, ast.arguments, ast.match_case)  # fmt: skip
_INNER: frozenset[type[ast.AST]] = frozenset(_HOLDERS) | frozenset(ast.stmt.__subclasses__())
# Their fields that may hold such: names, operators, contexts and type comments are never looked at.
_PLAIN = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "name", "names", "module", "level", "type_comment", "kind", "conversion",
                    "simple", "asname", "is_async", "type_params", "type_ignores", "lineno"})  # fmt: skip
_WALKED: frozenset[type[ast.AST]] = _INNER | {ast.Module}
_ROWED = frozenset({ast.Dict, ast.List})
_FIELDS = {kind: tuple(field for field in kind._fields if field not in _PLAIN) for kind in _WALKED}


def walk(tree: ast.AST, guard: int = ALWAYS) -> Iterator[tuple[Any, int, str]]:
    """Yield each node that may say something, with when it runs and the named thing that it stands in; no recursion, bounded.

    Most nodes run when the one around them does, and stand in the same thing: only where that changes, the new pair lies above
    the nodes that it is of, and the old one below them.
    """
    pending: list[Any] = [tree]
    owner, count = "", 0
    while pending and count < MAX_NODES:
        node = pending.pop()
        kind = type(node)
        if kind is tuple:
            guard, owner = node
            continue
        count += 1
        if kind is ast.Attribute:  # a fifth of all
            if type(node.value) in _INNER:
                pending.append(node.value)
            continue
        if kind in _SAID:
            yield node, guard, owner
        if kind in _TURNS and not (owner and kind is ast.Assign):
            inner = _inside(node, guard), owner_of(node, owner)
            if inner != (guard, owner):
                pending.append((guard, owner))
                guard, owner = inner
        elif kind in _ROWED and (rows := _rows(node, guard, owner)) is not None:
            pending += rows
            continue
        for name in _FIELDS[kind]:
            child = getattr(node, name)
            if type(child) is list and child:
                pending += [item for item in child if type(item) in _INNER]
            elif type(child) in _INNER:
                pending.append(child)


def _rows(node: ast.Dict | ast.List, guard: int, owner: str) -> list[Any] | None:
    """Return the entries of a dictionary or table, each with what it stands in; None for a plain list."""
    if isinstance(node, ast.Dict):
        return _entries(node, guard, owner)
    return _table(node, guard, owner) if _is_table(node.elts) else None


def _inside(node: ast.AST, guard: int) -> int:
    """Return when what stands in a node runs, where the node itself runs when ``guard`` says."""
    kind = type(node)
    if kind in _FUNCTIONS:
        return max(guard, IN_FUNCTION)
    is_sometimes = (kind in _TRIES and not _raises_again(node)) or (kind is ast.If and not is_main(node))
    is_sometimes = is_sometimes or (isinstance(node, ast.With) and _forgives(node.items[0].context_expr))
    return SOMETIMES if is_sometimes else guard


def _forgives(context: ast.expr) -> bool:
    """Whether a context is one in which a module may be missing."""
    if not isinstance(context, ast.Call) or len(context.args) > MAX_FORGIVEN:
        return False
    return forgives(
        f"with {dotted_name(context.func) or ''}({', '.join(dotted_name(item) or '' for item in context.args)})", 0
    )


def _entries(node: ast.Dict, guard: int, owner: str) -> list[Any]:
    """Return the values of a dictionary; entries of a registry stand in the entry, which lies above each."""
    mark = ENTRY if _is_registry(node.values) else PAIR if _is_pair(node.values) else ""
    if not mark:
        return [value for value in node.values if type(value) in _INNER]
    found: list[Any] = [(guard, owner)]
    named = [str(value_of(key).text) if isinstance(key, ast.Constant) else "" for key in node.keys]
    # The last that is put there is the first to be walked: entries of one line keep their order.
    for place, (name, value) in reversed(list(enumerate(zip(named, node.values, strict=True)))):
        if type(value) in _INNER:
            beside = f"{PAIR}{named[1 - place]}" if mark == PAIR else ""
            found += [value, (guard, f"{mark}{name}{beside}" if name else owner)]
    return found


def _is_table(values: list[ast.expr]) -> bool:
    """Whether a list is a table: dictionaries of several numbers, of which a program looks one up."""
    rows = [value for value in values[:MAX_ENTRIES] if isinstance(value, ast.Dict)]
    return len(rows) == len(values) and len(rows) >= LEAST_ENTRIES and _is_registry(values) and all(map(_is_row, rows))


def _is_row(row: ast.Dict) -> bool:
    numbers = [v for v in row.values if isinstance(v, ast.Constant) and type(v.value) in {int, float}]
    return len(numbers) > 1


def _table(node: ast.List, guard: int, owner: str) -> list[Any]:
    """Return the rows of a table; each stands in an entry of its own."""
    found: list[Any] = [(guard, owner)]
    for number, row in enumerate(node.elts):
        found += [row, (guard, f"{ENTRY}row {number}")]
    return found


def _is_registry(values: list[ast.expr]) -> bool:
    """Whether a dictionary's values are of one kind, so that a program takes one of them: dictionaries with the same keys, calls."""
    keys = _keys_of(values)
    return len(keys) >= LEAST_ENTRIES and all(mine & keys[0] for mine in keys)


def _is_pair(values: list[ast.expr]) -> bool:
    """Whether a dictionary has two values, which say mostly the same things."""
    keys = _keys_of(values) if len(values) == 2 else []
    shared = len(keys[0] & keys[1]) if len(keys) == 2 else 0
    return shared >= LEAST_SHARED and 2 * shared >= max(map(len, keys))


def _keys_of(values: list[ast.expr]) -> list[set[str]]:
    """Return what each dictionary, or call, among the values names."""
    keys: list[set[str]] = []
    for value in values[:MAX_ENTRIES]:
        if isinstance(value, ast.Dict):
            keys.append(
                {key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            )
        elif isinstance(value, ast.Call):
            keys.append({word.arg for word in value.keywords if word.arg})
    return keys


def owner_of(node: ast.AST, owner: str) -> str:
    """Return the name under which what stands in a node is known: a function's, a class's, a constant's."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name if node.name != "__init__" else owner
    if not owner and isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.Dict)):
        return target_name(node.targets[0]) or owner
    return owner


def _raises_again(node: ast.AST) -> bool:
    """Whether every handler of a ``try`` ends the program: what it guards is needed all the same."""
    handlers: list[ast.ExceptHandler] = getattr(node, "handlers", [])
    return bool(handlers) and all(_ends(handler.body[-1]) for handler in handlers if handler.body)


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return dotted_name(statement.value.func) in {"sys.exit", "exit", "quit", "os._exit"}
    return isinstance(statement, ast.Raise)


def is_main(node: ast.AST) -> bool:
    """Whether a statement is the guard ``if __name__ == "__main__"``."""
    test = getattr(node, "test", None)
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
