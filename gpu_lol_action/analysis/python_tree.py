"""What the syntax tree of a Python program says: imports, calls with their arguments, and values that it starts with."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gpu_lol_action.analysis.import_statements import relative_modules
from gpu_lol_action.analysis.python_defaults import (
    MAX_ENTRIES,
    Call,
    Given,
    assigned,
    entries,
    option_of,
    parameters,
    table_of,
    target_name,
)
from gpu_lol_action.analysis.python_scan import ALWAYS, IN_FUNCTION, SOMETIMES, Import
from gpu_lol_action.analysis.python_syntax import parse_program
from gpu_lol_action.analysis.python_values import Value, dotted_name, value_of

MAX_NODES = 200_000
MAX_TABLES = 100
ENTRY = ":"
"""Stands before the name of an entry of a registry, of which a run takes one; functions and classes are owners without it."""
LEAST_ENTRIES = 3
# except* came with Python 3.11
_TRIES = frozenset({ast.Try, getattr(ast, "TryStar", ast.Try)})
_IMPORTS = frozenset({ast.Import, ast.ImportFrom})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_TURNS = _TRIES | _FUNCTIONS | {ast.If, ast.ClassDef, ast.Assign}
"""What runs at another time than what stands around it, or has a name."""
_SAID = frozenset(
    {
        ast.Call,
        ast.Assign,
        ast.AnnAssign,
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
_LINE = operator.attrgetter("line")
Placed = TypeVar("Placed", Import, Call, Given)
_FIELDS = {kind: tuple(field for field in kind._fields if field not in _PLAIN) for kind in _WALKED}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the tree of one program says; ``trouble`` says why there is none."""

    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    given: tuple[Given, ...] = ()
    tables: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    has_main: bool = False
    trouble: str | None = None


def read_tree(text: str, place: Callable[[int], int] | None = None) -> Facts:
    """Return what a program's tree says, with lines as ``place`` gives them (notebooks)."""
    tree = parse_program(text)
    if isinstance(tree, str):
        return Facts(trouble=tree)
    imports: list[Import] = []
    said = _Said([], [], {})
    has_main = False
    for node, guard, owner in _walk(tree):
        kind = type(node)
        if kind is ast.Call:
            _say_call(node, owner, said)
        elif kind in _IMPORTS:
            imports.extend(
                Import(name, node.lineno, guard > ALWAYS, guard == IN_FUNCTION, names) for name, names in _modules(node)
            )
        elif kind is ast.If:
            has_main = has_main or _is_main(node)
        else:
            _say(node, owner, said)
    calls, given = said.calls, said.given
    if place is not None:
        imports, calls, given = (_placed(found, place) for found in (imports, calls, given))
    return Facts(
        tuple(sorted(imports, key=_LINE)),
        tuple(sorted(calls, key=_LINE)),
        tuple(sorted(given, key=_LINE)),
        said.tables,
        has_main,
    )


def _placed(found: list[Placed], place: Callable[[int], int]) -> list[Placed]:
    return [item if (at := place(item.line)) == item.line else replace(item, line=at) for item in found]


def read_block(block: str, guard: int) -> tuple[Import, ...] | None:
    """Return what one statement imports that runs when ``guard`` says, with lines from 1; None where it is not one whole statement."""
    is_inner = block[:1] in " \t"
    tree = parse_program(f"if 1:\n{block}" if is_inner else block)
    if isinstance(tree, str):
        return None
    outer = tree.body[0] if tree.body else tree
    statements = outer.body if is_inner and isinstance(outer, ast.If) else tree.body
    if len(statements) != 1:
        return None
    found = [
        Import(name, node.lineno - is_inner, inner > ALWAYS, inner == IN_FUNCTION, names)
        for node, inner, _ in _walk(statements[0], guard)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name, names in _modules(node)
    ]
    return tuple(sorted(found, key=lambda item: item.line))


@dataclass(frozen=True, slots=True)
class _Said:
    """What is collected while the tree is walked. Lists that grow, private to the reader."""

    calls: list[Call]
    given: list[Given]
    tables: dict[str, Mapping[str, Value]]


def _say_call(node: ast.Call, owner: str, said: _Said) -> None:
    """Collect what a call says, and the option that it makes."""
    call = _call(node, owner)
    if call is not None:
        said.calls.append(call)
        option = option_of(call)
        if option is not None:
            said.given.append(option)


def _say(node: ast.AST, owner: str, said: _Said) -> None:
    """Collect what one node says that is no call."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        said.given.extend(assigned(node, owner))
        table = table_of(node.value) if node.value is not None else None
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if table is not None and (name := target_name(target)) is not None and len(said.tables) < MAX_TABLES:
                said.tables.setdefault(name, table)
    elif isinstance(node, ast.Dict):
        said.given.extend(entries(node, owner))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        said.given.extend(parameters(node, _owner(node, owner)))


def _walk(tree: ast.AST, guard: int = ALWAYS) -> Iterator[tuple[Any, int, str]]:
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
        if kind in _SAID:
            yield node, guard, owner
        if kind in _TURNS:
            inner = _inside(node, guard), _owner(node, owner)
            if inner != (guard, owner):
                pending.append((guard, owner))
                guard, owner = inner
        elif kind is ast.Dict:
            pending += _entries(node, guard, owner)
            continue
        elif kind is ast.List and _is_table(node.elts):
            pending += _rows(node, guard, owner)
            continue
        for name in _FIELDS[kind]:
            child = getattr(node, name, None)
            if type(child) is list:
                pending += [item for item in child if type(item) in _INNER]
            elif type(child) in _INNER:
                pending.append(child)


def _inside(node: ast.AST, guard: int) -> int:
    """Return when what stands in a node runs, where the node itself runs when ``guard`` says."""
    kind = type(node)
    if kind in _FUNCTIONS:
        return max(guard, IN_FUNCTION)
    is_sometimes = (kind in _TRIES and not _raises_again(node)) or (kind is ast.If and not _is_main(node))
    return SOMETIMES if is_sometimes else guard


def _entries(node: ast.Dict, guard: int, owner: str) -> list[Any]:
    """Return the values of a dictionary; entries of a registry stand in the entry, which lies above each."""
    if not _is_registry(node.values):
        return [value for value in node.values if type(value) in _INNER]
    found: list[Any] = [(guard, owner)]
    for key, value in zip(node.keys, node.values, strict=True):
        if type(value) in _INNER:
            name = f"{ENTRY}{value_of(key).text}" if isinstance(key, ast.Constant) else owner
            found += [value, (guard, name)]
    return found


def _is_table(values: list[ast.expr]) -> bool:
    """Whether a list is a table: dictionaries of several numbers, of which a program looks one up."""
    rows = [value for value in values[:MAX_ENTRIES] if isinstance(value, ast.Dict)]
    return len(rows) == len(values) and len(rows) >= LEAST_ENTRIES and _is_registry(values) and all(map(_is_row, rows))


def _is_row(row: ast.Dict) -> bool:
    numbers = [v for v in row.values if isinstance(v, ast.Constant) and type(v.value) in {int, float}]
    return len(numbers) > 1


def _rows(node: ast.List, guard: int, owner: str) -> list[Any]:
    """Return the rows of a table; each stands in an entry of its own."""
    found: list[Any] = [(guard, owner)]
    for number, row in enumerate(node.elts):
        found += [row, (guard, f"{ENTRY}row {number}")]
    return found


def _is_registry(values: list[ast.expr]) -> bool:
    """Whether a dictionary's values are of one kind, so that a program takes one of them: dictionaries with the same keys, calls."""
    keys: list[set[str]] = []
    for value in values[:MAX_ENTRIES]:
        if isinstance(value, ast.Dict):
            keys.append(
                {key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
            )
        elif isinstance(value, ast.Call):
            keys.append({word.arg for word in value.keywords if word.arg})
    return len(keys) >= LEAST_ENTRIES and all(mine & keys[0] for mine in keys)


def _owner(node: ast.AST, owner: str) -> str:
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


def _modules(node: ast.Import | ast.ImportFrom) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(node, ast.Import):
        return [(alias.name, ()) for alias in node.names]
    names = [alias.name for alias in node.names]
    if not node.level:
        return [(node.module, tuple(names))] if node.module else []
    return [(name, ()) for name in relative_modules(node.level, node.module or "", names)]


def _call(node: ast.Call, owner: str) -> Call | None:
    name = dotted_name(node.func)
    if name is None:
        return None
    arguments = tuple(value_of(argument) for argument in node.args[:12])
    keywords = tuple((word.arg, value_of(word.value)) for word in node.keywords[:80] if word.arg)
    if name == "dict":
        # Registries are often lists of such: an entry's own name is the one by which it is asked for.
        own = next((value.text for key, value in keywords if key == "name" and value.text), None)
        owner = f"{ENTRY}{own}" if own else owner
    return Call(name, arguments, keywords, node.lineno, owner)


def _is_main(node: ast.AST) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
