"""What a Python program says, read from its syntax tree: imports, calls with their arguments, and defaults."""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gpu_lol_action.analysis.python_scan import (
    ALWAYS,
    IN_FUNCTION,
    SOMETIMES,
    Import,
    Quoted,
    scan_imports,
    scan_main,
    scan_names,
)
from gpu_lol_action.analysis.python_syntax import parse_cost, parse_program
from gpu_lol_action.analysis.python_values import Value, dotted_name, value_of
from gpu_lol_action.analysis.texts import text_of

__all__ = ["Call", "Default", "Import", "ParseBudget", "PythonCode", "read_python"]

MAX_NODES = 200_000
Answer = TypeVar("Answer")
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
_INNER = frozenset(_HOLDERS) | frozenset(ast.stmt.__subclasses__())


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


@dataclass(slots=True)
class ParseBudget:
    """How many bytes of a checkout's programs may still be parsed. Shared by them; counts down as they are asked."""

    left_bytes: int
    taken_bytes: int = 0

    def take(self, size: int) -> bool:
        """Take so many bytes and return True, or leave the rest to smaller programs."""
        is_enough = size <= self.left_bytes
        if is_enough:
            self.left_bytes -= size
            self.taken_bytes += size
        return is_enough


UNPARSED = "not parsed, for other programs came first"


class PythonCode:
    """What one program says, found out when it is asked: from its text where that is enough, else from its syntax tree.

    ``lines`` maps its lines to those of the file (notebooks). Compared by identity; the same questions in the same
    order get the same answers.
    """

    __slots__ = ("_budget", "_checked", "_content", "_defaults", "_edges", "_facts", "_has_main", "_imported", "_imports",
                 "_lines", "_names", "_places")  # fmt: skip

    def __init__(self, content: bytes | str = "", lines: Sequence[int] = (), budget: ParseBudget | None = None) -> None:
        self._content, self._lines, self._budget = content, lines, budget
        self._facts: Facts | None = None
        self._checked: str | None = None
        self._imports: tuple[Import, ...] | None = None
        self._has_main: bool | None = None
        self._edges: array[int] | None = None
        self._names: dict[tuple[str, ...], bool] = {}
        self._imported: frozenset[str] | None = None
        self._places: dict[str, array[int]] | None = None
        self._defaults: dict[str, Default] | None = None

    @property
    def imports(self) -> tuple[Import, ...]:
        """What is imported, by line; also of programs of which only the rest is broken."""
        if self._imports is None:
            scanned = self._scan(scan_imports)
            if scanned is None:
                self._imports = self._tree().imports
            else:
                self._imports = tuple(Import(i.module, self._line(i.line), i.is_optional, i.is_lazy) for i in scanned)
        return self._imports

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, by line."""
        return self._tree().calls

    @property
    def defaults(self) -> tuple[Default, ...]:
        """All values that the program starts with, by line."""
        return self._tree().defaults

    @property
    def has_main(self) -> bool:
        """Whether there is a guard ``if __name__ == "__main__"``."""
        if self._has_main is None:
            scanned = self._scan(scan_main)
            self._has_main = self._tree().has_main if scanned is None else scanned
        return self._has_main

    @property
    def is_broken(self) -> bool:
        """Whether it is not valid Python 3, or nothing that can be parsed safely."""
        return self._tree().trouble is not None

    @property
    def trouble(self) -> str | None:
        """Why the program was not understood, as far as it was asked; None where nothing is known to be wrong."""
        return self._facts.trouble if self._facts else self._checked

    def check(self) -> int:
        """Find out whether it is broken, if that is not known, and keep nothing else; return how many bytes were parsed."""
        if self._facts is not None or self._checked is not None:
            return 0
        tree = parse_program(self._text())
        self._checked = tree if isinstance(tree, str) else None
        return len(self._content)

    def imported(self) -> frozenset[str]:
        """Return the top-level names of all modules imported."""
        if self._imported is None:
            modules = (item.module for item in self.imports)
            self._imported = frozenset(module.split(".")[0] for module in modules if not module.startswith("."))
        return self._imported

    def calls_named(self, *names: str) -> tuple[Call, ...]:
        """Return the calls whose last word is one of these, by line; ``*Trainer`` stands for every word that ends so.

        The same as looking through ``calls``, and no tree is built where none of the names stands in the code.
        """
        if self._facts is None and not self._has_names(names):
            return ()
        by_word = self._by_word()
        words = {name for name in names if name in by_word}
        endings = tuple(name[1:] for name in names if name.startswith("*"))
        if endings:
            words.update(word for word in by_word if word.endswith(endings))
        calls = self.calls
        return tuple(calls[place] for place in sorted(place for word in words for place in by_word[word]))

    def default(self, name: str) -> Default | None:
        """Return the default of that name: an option's (parser, dataclass) before a plain assignment."""
        if self._defaults is None:
            first: dict[str, Default] = {}
            for item in self.defaults:
                known = first.setdefault(item.name, item)
                if item.is_option and not known.is_option:
                    first[item.name] = item
            self._defaults = first
        return self._defaults.get(name)

    def resolve(self, value: Value | None) -> str | None:
        """Return a value's text, following a name to its default in the same program."""
        if value is None or value.text is not None or value.reference is None:
            return value.text if value else None
        default = self.default(value.reference)
        return default.text if default else None

    def _by_word(self) -> Mapping[str, array[int]]:
        """Return the places of calls by their last word: asked of the same programs by every run that imports them."""
        if self._places is None:
            places: dict[str, array[int]] = {}
            for place, call in enumerate(self.calls):
                places.setdefault(call.last, array("I")).append(place)
            self._places = places
        return self._places

    def _text(self) -> str:
        # Decoded each time: kept as text, one emoji in a program would make each of its characters four bytes.
        return self._content if isinstance(self._content, str) else text_of(self._content)

    def _scan(self, look: Callable[[str, Quoted], Answer]) -> Answer:
        """Return what a look at the text says; where its strings lie is kept for the next."""
        text = self._text()
        quoted = Quoted(text, self._edges)
        answer = look(text, quoted)
        self._edges = quoted.edges
        return answer

    def _has_names(self, names: tuple[str, ...]) -> bool:
        if names not in self._names:
            self._names[names] = self._scan(lambda text, quoted: scan_names(text, quoted, names))
        return self._names[names]

    def _line(self, line: int) -> int:
        return self._lines[line - 1] if 0 < line <= len(self._lines) else line

    def _tree(self) -> Facts:
        if self._facts is None:
            text = self._text()
            if self._budget is None or self._budget.take(parse_cost(text)):
                self._facts = _read_tree(text, self._line)
            else:
                self._facts = Facts(trouble=UNPARSED)
        return self._facts


def read_python(text: str, lines: Sequence[int] = ()) -> PythonCode:
    """Return what a program says; never executes it. ``lines`` maps its lines to those of the file (notebooks)."""
    return PythonCode(text, lines)


def _read_tree(text: str, place: Callable[[int], int]) -> Facts:
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


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, int]]:
    """Yield each node that may say something with when it runs; no recursion, bounded."""
    pending: list[tuple[ast.AST, int]] = [(tree, ALWAYS)]
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
        for field in node._fields:
            child: Any = getattr(node, field, None)
            if type(child) is list:
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
    if call.last == "add_argument" and call.arguments:
        value = call.keyword("default")
        flags = [argument.text for argument in call.arguments if argument.text]
        longest = max(flags, key=len, default="")
        action = call.keyword("action")
        text = value.text if value else ("False" if action and action.text == "store_true" else None)
        destination = call.keyword("dest")
        name = (destination.text if destination and destination.text else longest).lstrip("-").replace("-", "_")
        return [Default(name, text, call.line, is_option=True)] if text is not None and name else []
    if call.last == "option" and call.arguments and call.arguments[0].text:
        value = call.keyword("default")
        name = call.arguments[0].text.split("/")[0].strip().lstrip("-").replace("-", "_")  # click: --x/--no-x
        return [Default(name, value.text, call.line, is_option=True)] if value and value.text is not None else []
    if re.fullmatch(r"DEFINE_(?:string|integer|float|bool|boolean|enum)", call.last) and len(call.arguments) >= 2:
        flag, start = call.arguments[0].text, call.arguments[1].text
        return [Default(flag, start, call.line, is_option=True)] if flag and start is not None else []
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
