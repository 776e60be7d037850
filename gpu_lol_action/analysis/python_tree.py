"""What the syntax tree of a Python program says: imports, calls with their arguments, and values that it starts with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.analysis.python_scan import ALWAYS, IN_FUNCTION, SOMETIMES, Import
from gpu_lol_action.analysis.python_syntax import parse_program
from gpu_lol_action.analysis.python_values import Value, dotted_name, value_of

MAX_NODES = 200_000
_FLAGS = ("string", "integer", "float", "bool", "boolean", "enum")  # of absl
_OPTIONS = frozenset({"add_argument", "option", *(f"DEFINE_{kind}" for kind in _FLAGS)})
# except* came with Python 3.11
_TRIES = frozenset({ast.Try, getattr(ast, "TryStar", ast.Try)})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda})
_SAID = frozenset(
    {ast.Call, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.If}
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
_FIELDS = {kind: tuple(field for field in kind._fields if field not in _PLAIN) for kind in _WALKED}


@dataclass(frozen=True, slots=True)
class Call:
    """A call: dotted name as written, arguments by place and by name, 1-based line."""

    name: str
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    line: int

    @property
    def last(self) -> str:
        """The last word of the name: ``from_pretrained``."""
        return self.name.rpartition(".")[2]

    def keyword(self, *names: str) -> Value | None:
        """Return the first of these named arguments, or None."""
        return next((value for key, value in self.keywords if key in names), None)


@dataclass(frozen=True, slots=True)
class Default:
    """A value that a program starts with: an assignment, a dataclass field, a parameter, or a parser's default."""

    name: str
    text: str
    line: int
    is_option: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What the tree of one program says; ``trouble`` says why there is none."""

    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    defaults: tuple[Default, ...] = ()
    has_main: bool = False
    trouble: str | None = None


def read_tree(text: str, place: Callable[[int], int]) -> Facts:
    """Return what a program's tree says, with lines as ``place`` gives them."""
    tree = parse_program(text)
    if isinstance(tree, str):
        return Facts(trouble=tree)
    imports: list[Import] = []
    calls: list[Call] = []
    defaults: list[Default] = []
    has_main = False
    for node, guard in _walk(tree):
        if isinstance(node, ast.Call):
            call = _call(node, place(node.lineno))
            if call is not None:
                calls.append(call)
                defaults.extend(_option(call))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            at = place(node.lineno)
            defaults.extend(Default(name, value, at, is_option) for name, value, is_option in _assigned(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            at = place(node.lineno)
            imports.extend(Import(name, at, guard > ALWAYS, guard == IN_FUNCTION) for name in _modules(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            defaults.extend(Default(a.arg, value, place(a.lineno), is_option=False) for a, value in _parameters(node))
        else:
            has_main = has_main or _is_main(node)
    return Facts(
        tuple(sorted(imports, key=lambda i: i.line)),
        tuple(sorted(calls, key=lambda call: call.line)),
        tuple(sorted(defaults, key=lambda d: d.line)),
        has_main,
    )


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
        Import(name, node.lineno - is_inner, inner > ALWAYS, inner == IN_FUNCTION)
        for node, inner in _walk(statements[0], guard)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in _modules(node)
    ]
    return tuple(sorted(found, key=lambda item: item.line))


def _walk(tree: ast.AST, guard: int = ALWAYS) -> Iterator[tuple[ast.AST, int]]:
    """Yield each node that may say something with when it runs; no recursion, bounded."""
    pending: list[tuple[ast.AST, int]] = [(tree, guard)]
    count = 0
    while pending and count < MAX_NODES:
        node, guard = pending.pop()
        count += 1
        kind = type(node)
        if kind in _SAID:
            yield node, guard
        inner = guard
        if kind in _FUNCTIONS:
            inner = max(guard, IN_FUNCTION)
        elif (kind in _TRIES and not _raises_again(node)) or (kind is ast.If and not _is_main(node)):
            inner = SOMETIMES
        for field in _FIELDS[kind]:
            child: Any = getattr(node, field, None)
            if type(child) is list:
                if child:
                    pending += [(item, inner) for item in child if type(item) in _INNER]
            elif type(child) in _INNER:
                pending.append((child, inner))


def _raises_again(node: ast.AST) -> bool:
    """Whether every handler of a ``try`` ends the program: what it guards is needed all the same."""
    handlers: list[ast.ExceptHandler] = getattr(node, "handlers", [])
    return bool(handlers) and all(_ends(handler.body[-1]) for handler in handlers if handler.body)


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return dotted_name(statement.value.func) in {"sys.exit", "exit", "quit", "os._exit"}
    return isinstance(statement, ast.Raise)


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level > 1:
        return []
    prefix = "." * node.level
    inner = [f"{prefix}{node.module}.{alias.name}" for alias in node.names] if node.module and node.level else []
    return [f"{prefix}{node.module}", *inner] if node.module else [f"{prefix}{alias.name}" for alias in node.names]


def _call(node: ast.Call, line: int) -> Call | None:
    name = dotted_name(node.func)
    if name is None:
        return None
    arguments = tuple(value_of(argument) for argument in node.args[:12])
    keywords = tuple((word.arg, value_of(word.value)) for word in node.keywords[:80] if word.arg)
    return Call(name, arguments, keywords, line)


def _option(call: Call) -> list[Default]:
    """Return the default that a parser's option gives: argparse, click, typer, absl."""
    last = call.last
    if not call.arguments or last not in _OPTIONS:
        return []
    if last == "add_argument":
        value = call.keyword("default")
        flags = [argument.text for argument in call.arguments if argument.text]
        longest = max(flags, key=len, default="")
        action = call.keyword("action")
        text = value.text if value else ("False" if action and action.text == "store_true" else None)
        destination = call.keyword("dest")
        name = (destination.text if destination and destination.text else longest).lstrip("-").replace("-", "_")
        return [Default(name, text, call.line, is_option=True)] if text is not None and name else []
    first = call.arguments[0].text
    if last == "option" and first:
        value = call.keyword("default")
        name = first.split("/")[0].strip().lstrip("-").replace("-", "_")  # click: --x/--no-x
        return [Default(name, value.text, call.line, is_option=True)] if value and value.text is not None else []
    if last.startswith("DEFINE_") and len(call.arguments) >= 2:
        start = call.arguments[1].text
        return [Default(first, start, call.line, is_option=True)] if first and start is not None else []
    return []


def _assigned(node: ast.Assign | ast.AnnAssign) -> list[tuple[str, str, bool]]:
    """Return names with constant values; annotated ones count as options (dataclass fields)."""
    if node.value is None:
        return []
    is_option = isinstance(node, ast.AnnAssign)
    found: list[tuple[str, str, bool]] = []
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else None
        if name is None:
            continue
        if isinstance(node.value, ast.Dict):
            found.extend(_entries(node.value))
            continue
        text = value_of(node.value).text
        if text is not None:
            found.append((name, text, is_option))
    return found


def _entries(node: ast.Dict) -> list[tuple[str, str, bool]]:
    """Return the constant entries of a dictionary: configurations are often written so."""
    found: list[tuple[str, str, bool]] = []
    for key, value in zip(node.keys[:200], node.values[:200], strict=False):
        text = value_of(value).text if isinstance(value, (ast.Constant, ast.BinOp)) else None
        if (
            isinstance(key, ast.Constant)
            and isinstance(key.value, str)
            and text is not None
            and key.value.isidentifier()
        ):
            found.append((key.value, text, False))
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[ast.arg, str]]:
    """Return the defaults of a function's parameters: ``fire`` and plain calls start with them."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(arguments[len(arguments) - len(node.args.defaults) :], node.args.defaults, strict=True))
    pairs += [
        (arg, value)
        for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    ]
    values = [(argument, value_of(value).text) for argument, value in pairs]
    return [(argument, text) for argument, text in values if text is not None]


def _is_main(node: ast.AST) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
