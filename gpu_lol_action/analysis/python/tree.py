"""What the syntax tree of a Python program says: imports, calls with their arguments, and values that it starts with."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeVar

from gpu_lol_action.analysis.python.chosen_calls import chosen
from gpu_lol_action.analysis.python.defaults import (
    Call,
    Given,
    assigned,
    by_place,
    entries,
    option_of,
    parameters,
    table_of,
    target_name,
    with_made,
)
from gpu_lol_action.analysis.python.faulty import parse_mostly
from gpu_lol_action.analysis.python.import_statements import relative_modules
from gpu_lol_action.analysis.python.scan import ALWAYS, IN_FUNCTION, Import
from gpu_lol_action.analysis.python.syntax import parse_program
from gpu_lol_action.analysis.python.values import Value, dotted_name, value_of
from gpu_lol_action.analysis.python.walk import ENTRY, is_main, owner_of, walk
from gpu_lol_action.domain.records import record

MAX_TABLES = 100
MAX_PARAMETERS = 60
_IMPORTS = frozenset({ast.Import, ast.ImportFrom})
# What holds settings by name, made of nothing else: `SimpleNamespace(model="gpt2", batch_size=4)`.
_HOLDERS = frozenset(
    {"SimpleNamespace", "Namespace", "ConfigDict", "EasyDict", "edict", "AttrDict", "Munch", "Box", "DotMap"}
)
HYPERPARAMETERS = "hyperparameters"
"""What SageMaker's jobs call what they hand their program; the table of that name is the one that such a call writes down."""
LOOP_CONFIG = "train_loop_config"
"""What Ray Train calls what it hands the function of its workers."""
_HANDED = frozenset({HYPERPARAMETERS, LOOP_CONFIG})
_CHOOSING = frozenset({ast.Subscript, ast.Call})
_LINE = operator.attrgetter("line")
Placed = TypeVar("Placed", Import, Call, Given)


@record(frozen=True, slots=True)
class Signature:
    """A function's parameters, those that are taken by their place first, without the object itself; ``is_method``: it is called on one."""

    placed: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    is_method: bool = False


_UNTOLD = Signature()
# Decorators that leave a function's parameters as they are.
_LEAVES = frozenset({"main", "no_grad", "inference_mode", "staticmethod", "classmethod", "record", "wraps", "compile", "jit", "task",
                     "remote", "function", "configurable", "command", "wrap", "option", "argument", "group", "cache", "lru_cache", "cached",
                     "cache_resource", "cache_data", "singleton", "GPU"})  # fmt: skip


@record(frozen=True, slots=True)
class Facts:
    """What the tree of one program says; ``trouble`` says why there is none, ``fault`` is the line of what was left out of it (0: nothing).

    ``signatures``: of its functions, and of its classes' constructors under the class's name.
    """

    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    given: tuple[Given, ...] = ()
    tables: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    has_main: bool = False
    trouble: str | None = None
    fault: int = 0


def read_tree(text: str, place: Callable[[int], int] | None, may_spend: Callable[[int], bool]) -> Facts:
    """Return what a program's tree says, with lines as ``place`` gives them (notebooks). ``may_spend`` is of ``parse_mostly``."""
    tree, fault = parse_mostly(text, may_spend)
    if isinstance(tree, str):
        return Facts(trouble=tree)
    imports: list[Import] = []
    said = _Said([], [], {}, {})
    has_main = False
    for node, guard, owner in walk(tree):
        kind = type(node)
        if kind is ast.Call:
            _say_call(node, owner, said)
        elif kind in _IMPORTS:
            imports.extend(
                Import(name, node.lineno, guard > ALWAYS, guard == IN_FUNCTION, names) for name, names in _modules(node)
            )
        elif kind is ast.If:
            has_main = has_main or is_main(node)
        else:
            _say(node, owner, said)
    calls, given = said.calls, with_made(said.given, said.calls, said.signatures, has_main=has_main)
    if place is not None:
        imports, calls, given = (_placed(found, place) for found in (imports, calls, given))
    return Facts(
        tuple(sorted(imports, key=_LINE)),
        tuple(sorted(calls, key=_LINE)),
        tuple(sorted(given, key=_LINE)),
        said.tables,
        said.signatures,
        has_main,
        fault=place(fault) if place is not None and fault else fault,
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
        for node, inner, _ in walk(statements[0], guard)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name, names in _modules(node)
    ]
    return tuple(sorted(found, key=lambda item: item.line))


@record(frozen=True, slots=True)
class _Said:
    """What is collected while the tree is walked. Lists that grow, private to the reader."""

    calls: list[Call]
    given: list[Given]
    tables: dict[str, Mapping[str, Value]]
    signatures: dict[str, Signature]


def _say_call(node: ast.Call, owner: str, said: _Said) -> None:
    """Collect what a call says, and the option that it makes."""
    call = _call(node, owner)
    if call is not None:
        said.calls.append(call)
        for word in node.keywords:
            if word.arg in _HANDED and (table := table_of(word.value)) is not None:
                said.tables.setdefault(word.arg, table)
        option = option_of(call)
        if option is not None:
            said.given.append(option)
        elif call.last in _HOLDERS:
            said.given.extend(
                Given(key, value, call.line, is_option=False, owner=owner) for key, value in call.keywords
            )


def _say(node: ast.AST, owner: str, said: _Said) -> None:
    """Collect what one node says that is no call."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        said.given.extend(assigned(node, owner))
        table = table_of(node.value) if node.value is not None else None
        if table is None:
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if (name := target_name(target)) is not None and len(said.tables) < MAX_TABLES:
                said.tables.setdefault(name, table)
    elif isinstance(node, ast.Dict):
        said.given.extend(entries(node, owner))
    elif isinstance(node, ast.AugAssign):
        _say_added(node, owner, said)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        known_as = owner_of(node, owner)
        said.given.extend(parameters(node, known_as))
        signature = _signature(node)
        known = said.signatures.setdefault(known_as, signature)
        if known != signature:
            said.signatures[known_as] = _UNTOLD


def _say_added(node: ast.AugAssign, owner: str, said: _Said) -> None:
    """Collect what is added to a list (``words += ["--port", "80"]``) as the call that does the same."""
    is_longer = isinstance(node.op, ast.Add) and isinstance(node.value, (ast.List, ast.Tuple))
    name = dotted_name(node.target) if is_longer else None
    if name is not None:
        said.calls.append(Call(f"{name}.extend", (value_of(node.value),), (), node.lineno, owner))


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Signature:
    """Return what a function takes; nothing where a decorator may change that."""
    placed = [each.arg for each in by_place(node)[:MAX_PARAMETERS]]
    named = [each.arg for each in node.args.kwonlyargs[:MAX_PARAMETERS]]
    if any((dotted_name(each) or "").rpartition(".")[2] not in _LEAVES for each in node.decorator_list):
        return _UNTOLD
    is_of_object = placed[:1] in (["self"], ["cls"])
    placed = placed[1:] if is_of_object else placed
    return Signature(tuple(placed), tuple(named), is_of_object and node.name != "__init__")


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
    arguments = tuple([value_of(argument) for argument in node.args[:12]]) if node.args else ()
    if type(node.func) in _CHOOSING and (by_name := chosen(node.func)) is not None:
        name, arguments = by_name[0], (by_name[1], *arguments)
    keywords = (
        tuple([(word.arg, value_of(word.value)) for word in node.keywords[:80] if word.arg]) if node.keywords else ()
    )
    if name == "dict":
        # Registries are often lists of such: an entry's own name is the one by which it is asked for.
        own = next((value.text for key, value in keywords if key == "name" and value.text), None)
        owner = f"{ENTRY}{own}" if own else owner
    spread = tuple([value_of(word.value) for word in node.keywords if not word.arg]) if node.keywords else ()
    key = value_of(node.func.slice) if type(node.func) is ast.Subscript else None
    return Call(name, arguments, keywords, node.lineno, owner, spread, key)
