"""Values that a program starts with: assignments, fields, parameters, entries of dictionaries, and options of every common parser."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import field, replace

from gpu_lol_action.analysis.python.value_parts import part_of
from gpu_lol_action.analysis.python.values import Value, value_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_ENTRIES = 200
MAX_PARTS, MAX_TABLES_DEEP = 12, 2
_FLAGS = regex(
    r"DEFINE_(?:string|integer|float|bool|boolean|enum|multi_string|multi_integer|multi_float|list|config_file)"
)
_OPTIONS = ("add_", "option", "DEFINE_")
_DESTINATION = regex(r"[A-Za-z_]\w*")


@record(frozen=True, slots=True)
class Call:
    """A call: dotted name as written, arguments by place and by name, 1-based line; ``owner``: the entry that it stands in."""

    name: str
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    line: int
    owner: str = ""
    spread: tuple[Value, ...] = ()
    """What it is given as names and values at once (``**params``)."""
    key: Value | None = None
    """By what it is taken out of a table (``REGISTRY[name](...)``)."""
    last: str = field(init=False, repr=False, compare=False)
    """The last word of the name (``from_pretrained``), by which every detector looks for what it knows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", self.name.rpartition(".")[2])

    def keyword(self, *names: str) -> Value | None:
        """Return the first of these named arguments, or None."""
        return next((value for key, value in self.keywords if key in names), None)


@record(frozen=True, slots=True)
class Default:
    """A value that a program starts with: an assignment, a dataclass field, a parameter, an entry, or a parser's default.

    ``owner`` is the function, class or entry of a dictionary that it stands in: the name under which a registry has it;
    ``is_parameter``: it is the default of one of that function's parameters.
    """

    name: str
    text: str
    line: int
    is_option: bool
    owner: str = ""
    is_parameter: bool = False


@record(frozen=True, slots=True)
class Given:
    """A name with its value as written, which another name may have to tell; ``is_start``: a run starts with it."""

    name: str
    value: Value
    line: int
    is_option: bool
    owner: str = ""
    is_start: bool = True
    is_parameter: bool = False


def option_of(call: Call) -> Given | None:
    """Return the default that a parser's option gives: argparse, optparse, click, typer, absl."""
    last = call.last
    if not call.arguments or not last.startswith(_OPTIONS):  # most calls are none of these
        return None
    if last in {"add_argument", "add_option"}:
        value = call.keyword("default")
        flags = [argument.text for argument in call.arguments if argument.text]
        action = call.keyword("action")
        if value is None and action is not None and action.text == "store_true":
            value = Value("False")
        destination = call.keyword("dest")
        name = destination.text if destination and destination.text else max(flags, key=len, default="")
        return _given(name, value, call)
    if last == "option":
        texts = [argument.text.split("/")[0].strip() for argument in call.arguments if argument.text]
        # Click: `-m`, `--model`, `--x/--no-x`, and a bare word names the parameter itself.
        bare = next((text for text in texts if _DESTINATION.fullmatch(text)), "")
        return _given(bare or max(texts, key=len, default=""), call.keyword("default"), call)
    if _FLAGS.fullmatch(last) and len(call.arguments) >= 2:
        return _given(call.arguments[0].text or "", call.arguments[1], call)
    return None


def _given(name: str, value: Value | None, call: Call) -> Given | None:
    plain = name.lstrip("-").replace("-", "_")
    return Given(plain, value, call.line, is_option=True) if plain and value is not None else None


def assigned(node: ast.Assign | ast.AnnAssign, owner: str) -> Iterator[Given]:
    """Yield names with their values, also several at once (``a, b = 1, 2``); annotated ones count as options (dataclass fields)."""
    if node.value is None or isinstance(node.value, ast.Dict):
        return
    if isinstance(node.value, (ast.Tuple, ast.List)) and isinstance(node, ast.Assign):
        yield from _side_by_side(node.targets[0], node.value, owner)
    is_option = isinstance(node, ast.AnnAssign)
    yield from _taken_apart(node, owner)
    value = value_of(node.value)
    # What a variable is computed from is followed where it is used; as a start it counts only where it is plain.
    is_start = is_option or value.text is not None
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        name = target_name(target)
        if name is not None:
            yield Given(name, value, node.lineno, is_option, owner, is_start)


def _side_by_side(targets: ast.expr, values: ast.Tuple | ast.List, owner: str) -> Iterator[Given]:
    """Yield names that are set at once to as many values; nothing where one of either stands for several."""
    is_several = isinstance(targets, (ast.Tuple, ast.List)) and len(targets.elts) == len(values.elts)
    if not isinstance(targets, (ast.Tuple, ast.List)) or not is_several:
        return
    if any(isinstance(each, ast.Starred) for each in (*targets.elts, *values.elts)):
        return
    for target, item in zip(targets.elts[:MAX_ENTRIES], values.elts[:MAX_ENTRIES], strict=True):
        name, value = target_name(target), value_of(item)
        if name is not None and not isinstance(item, (ast.Dict, ast.List, ast.Tuple)):
            yield Given(name, value, target.lineno, is_option=False, owner=owner, is_start=value.text is not None)


def _taken_apart(node: ast.Assign | ast.AnnAssign, owner: str) -> Iterator[Given]:
    """Yield the names that one assignment gives the parts of a row or pair that a name or an entry stands for (``width, height = SIZES[kind]``)."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(each, ast.Starred) for each in target.elts):
        return
    whole = value_of(node.value) if isinstance(node.value, ast.Name | ast.Subscript) else Value(None)
    for place, each in enumerate(target.elts[:MAX_PARTS]):
        value = part_of(whole, place)
        if isinstance(each, ast.Name) and (value.text is not None or value.is_open):
            yield Given(each.id, value, node.lineno, is_option=False, owner=owner, is_start=False)


def target_name(target: ast.AST) -> str | None:
    """Return the last word of what is assigned to: ``x``, ``config.x``, ``config["x"]``."""
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        key = target.slice.value
        return key if isinstance(key, str) and key.isidentifier() else None
    return None


def with_made(given: list[Given], calls: list[Call], functions: Container[str], *, has_main: bool) -> list[Given]:
    """Return what a program starts with, fields of a class as its only object is made (``Config(height=832)``) where that says them otherwise.

    What one of the ``functions`` makes is a preset, or a copy, that not every run comes by; but for a program's ``main``. So is what stands
    under a guard, or is called like a constant (``DEBUG = Config(...)``), and a class that is handed on makes its objects elsewhere.
    """
    fields = {(item.owner, item.name) for item in given if item.is_option and item.owner[:1].isupper()}
    handed = {each.path for call in calls for each in call.arguments} if fields else set[str | None]()
    classes = {owner for owner, _ in fields} - handed
    constants = (
        {(each.line, each.owner) for each in given if each.name.isupper()} if classes else set[tuple[int, str]]()
    )
    made: dict[str, list[Call]] = {}
    for call in calls if classes else ():
        if call.last in classes:
            made.setdefault(call.last, []).append(call)
    told = {
        (name, key): (value, only[0].line)
        for name, only in made.items()
        if len(only) == 1 and (only[0].owner == "main" or (only[0].owner not in functions and not has_main))
        if (only[0].line, only[0].owner) not in constants and only[0].owner.isupper() is False
        for key, value in only[0].keywords
        if (name, key) in fields and value.text is not None
    }
    if not told:
        return given
    return [
        replace(item, value=told[place][0], line=told[place][1])
        if item.is_option and (place := (item.owner, item.name)) in told
        else item
        for item in given
    ]


_KEPT = frozenset({"offload_optimizer", "offload_param"})
"""Sections of a DeepSpeed configuration whose entries mean nothing without their names."""


def entries(node: ast.Dict, owner: str) -> Iterator[Given]:
    """Yield the entries of a dictionary under plain names: configurations are often written so."""
    for key, item in zip(node.keys[:MAX_ENTRIES], node.values[:MAX_ENTRIES], strict=False):
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
            if key.value in _KEPT and isinstance(item, ast.Dict):
                yield from (replace(inner, name=f"{key.value}_{inner.name}") for inner in entries(item, owner))
            value = value_of(item) if not isinstance(item, (ast.Dict, ast.List, ast.Tuple)) else Value(None)
            if value.text is not None:
                yield Given(key.value, value, item.lineno, is_option=False, owner=owner)


def by_place(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """Return the parameters that take their argument by its place, those in front of a ``/`` with them."""
    return [*node.args.posonlyargs, *node.args.args]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[Given]:
    """Yield the defaults of a function's parameters: ``fire``, ``typer`` and plain calls start with them."""
    arguments = by_place(node)
    pairs = list(zip(arguments[len(arguments) - len(node.args.defaults) :], node.args.defaults, strict=True))
    pairs += [
        (argument, value)
        for argument, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    ]
    for argument, value in pairs:
        yield Given(argument.arg, value_of(value), argument.lineno, is_option=False, owner=owner, is_parameter=True)


def table_of(node: ast.AST, depth: int = 0) -> dict[str, Value] | None:
    """Return a dictionary as a table to look names up in, an entry's own entries behind its name and a dot; None where it is none."""
    if isinstance(node, ast.Dict):
        pairs = [
            (value_of(key).text, item) for key, item in zip(node.keys, node.values, strict=True) if key is not None
        ]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        pairs = [(word.arg, word.value) for word in node.keywords]
    else:
        return None
    found: dict[str, Value] = {}
    for name, item in pairs[:MAX_ENTRIES]:
        value = value_of(item)
        if name is not None and (value.text is not None or value.is_open):
            found.setdefault(name, value)
        for key, inner in _row(item, depth).items() if name is not None and len(found) < MAX_ENTRIES else ():
            found.setdefault(f"{name}.{key}", inner)
    return found or None


def _row(node: ast.AST, depth: int) -> dict[str, Value]:
    """Return the parts of a table's entry by their keys: of a dictionary, of an object that is made by name, of a pair by their places."""
    if depth >= MAX_TABLES_DEEP:
        return {}
    if isinstance(node, ast.Tuple | ast.List):
        values = {str(place): value_of(each) for place, each in enumerate(node.elts[:MAX_PARTS])}
    elif isinstance(node, ast.Call) and target_name(node.func) != "dict":
        values = {word.arg: value_of(word.value) for word in node.keywords[:MAX_PARTS] if word.arg}
    else:
        return table_of(node, depth + 1) or {}
    return {key: value for key, value in values.items() if value.text is not None or value.is_open}
