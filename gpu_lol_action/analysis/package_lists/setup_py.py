"""What a setup.py asks for, by evaluating its lists and tables, never by running it."""

from __future__ import annotations

import ast
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.package_lists.glued_names import taken_apart
from gpu_lol_action.analysis.package_lists.package_files import (
    MAX_DECLARED,
    Declared,
    clean_requirement,
    package_name,
    placed,
)
from gpu_lol_action.analysis.package_lists.setup_words import extension_line, is_list_file, leaves_out, python_wanted
from gpu_lol_action.analysis.python.faulty import parse_mostly
from gpu_lol_action.analysis.python.values import dotted_name
from gpu_lol_action.domain.records import record

MAX_STEPS = 20_000
MAX_DEPTH = 12
_REQUIRES = frozenset({"install_requires", "requires"})
_FILE = "-r "
"""How the text of a list says that it is a file's lines, as pip writes it: no requirement begins with a dash."""
_OPENS = frozenset(
    {"open", "Path", "PurePath", "join", "joinpath", "read", "parse_requirements", "read_text", "abspath"}
)
_KEEPS = frozenset({"list", "tuple", "set", "sorted", "filter", "map", "unique", "dict", "str", "chain"})
_METHODS = frozenset(
    {"split", "splitlines", "readlines", "read", "strip", "copy", "values", "items", "rstrip", "read_text", "open"}
)

Table = dict[str, "Known"]
Known = list[str] | Table | str


@record(frozen=True, slots=True)
class SetupProgram:
    """What setup.py asks for; ``files`` are the requirements files that it reads."""

    declared: tuple[Declared, ...] = ()
    files: tuple[str, ...] = ()
    python: str = ""
    python_line: int = 0
    name: str = ""
    compiles_cuda: int = 0
    """Line of the first extension that is compiled with PyTorch's tools; 0 where there is none."""


@record(slots=True)
class _Reader:
    """Names and functions of one program while it is read. A mutable cursor, private to the reader."""

    names: dict[str, Known] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    table: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    steps: int = 0


@remembered
def read_setup_py(source: Source) -> SetupProgram:
    """Read ``install_requires`` and ``extras_require``: lists, sums, tables, comprehensions over them, and files that it reads."""
    tree, _ = parse_mostly(source.text, source.effort.python.take)
    if isinstance(tree, str):
        return SetupProgram()
    reader = _Reader(lines=source.text.split("\n"))
    reader.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    _gather(reader, tree)
    required, extras = _calls(reader, tree)
    if not required:
        named = (reader.names.get(name) for name in ("install_requires", "requirements", "requires"))
        required = next((_flat(known) for known in named if known is not None), [])
    python, line = python_wanted(tree)
    found = [(text, "") for text in required]
    found += [(text, group) for group, texts in extras.items() for text in texts]
    seen = dict.fromkeys(found[:MAX_DECLARED])
    declared = tuple(placed(source, text, group, is_library=True) for text, group in seen if clean_requirement(text))
    files = tuple(text[len(_FILE) :] for text, group in seen if text.startswith(_FILE) and not group)
    return SetupProgram(declared, files, python, line, _name(reader, tree), extension_line(tree))


def _gather(reader: _Reader, tree: ast.Module) -> None:
    """Take over assignments, in the order of the program: plain ones, ``+=``, ``append``, ``extend``, entries of a table."""
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.With, ast.For)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None:
                    _assign(reader, item.optional_vars, _known(reader, item.context_expr))
        elif isinstance(node, ast.For):
            _assign(reader, node.target, _flat(_known(reader, node.iter)) or None)
        _take(reader, node)


def _take(reader: _Reader, node: ast.stmt) -> None:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        value = _known(reader, node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            _assign(reader, target, value)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        _extend(reader, node.target.id, _flat(_known(reader, node.value)))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        owner, _, method = (dotted_name(node.value.func) or "").rpartition(".")
        if method in {"append", "extend"} and owner in reader.names and node.value.args:
            _extend(reader, owner, _flat(_known(reader, node.value.args[0])))


def _assign(reader: _Reader, target: ast.expr, value: Known | None) -> None:
    if value is None:
        return
    if isinstance(target, (ast.Name, ast.Attribute)):
        name = target.id if isinstance(target, ast.Name) else target.attr
        # An empty start that a loop fills must not hide what stood there before.
        if value or name not in reader.names:
            reader.names[name] = value
        for text in _flat(value):
            reader.table.setdefault(package_name(text), text)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        key = _known(reader, target.slice)
        owner = reader.names.setdefault(target.value.id, {})
        if isinstance(key, str) and isinstance(owner, dict):
            owner[key] = value


def _extend(reader: _Reader, name: str, texts: list[str]) -> None:
    old = reader.names.get(name)
    if old is None or isinstance(old, list):
        reader.names[name] = [*(old or []), *texts][:MAX_DECLARED]


def _calls(reader: _Reader, tree: ast.Module) -> tuple[list[str], dict[str, list[str]]]:
    """Return what the call of ``setup`` is given, or a table that is handed to it whole."""
    required: list[str] = []
    extras: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        pairs: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.keyword) and node.arg:
            pairs = [(node.arg, node.value)]
        elif isinstance(node, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            pairs = [(key, value) for key, value in zip(keys, node.values, strict=True) if isinstance(key, str)]
        for name, value in pairs:
            if name in _REQUIRES:
                required += _flat(_known(reader, value))
            elif name == "extras_require":
                known = _known(reader, value)
                for key, texts in known.items() if isinstance(known, dict) else ():
                    extras.setdefault(key, []).extend(_flat(texts))
    return required, extras


def _known(reader: _Reader, node: ast.AST, depth: int = 0) -> Known | None:
    """Return what an expression gives: a text, a list of texts, a table of them; None where only running it would tell."""
    reader.steps += 1
    if depth > MAX_DEPTH or reader.steps > MAX_STEPS:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, (ast.Name, ast.Attribute)):
        return reader.names.get(node.id if isinstance(node, ast.Name) else node.attr)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _listed(reader, node.elts, depth)
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return _table(reader, node, depth) if isinstance(node, ast.Dict) else _table_made(reader, node, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        return _sum(reader, node, depth)
    if isinstance(node, ast.JoinedStr):
        parts = [_known(reader, p.value if isinstance(p, ast.FormattedValue) else p, depth + 1) for p in node.values]
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(node, ast.Starred):
        return _known(reader, node.value, depth + 1)
    if isinstance(node, ast.IfExp):
        return _known(reader, node.body, depth + 1) or _known(reader, node.orelse, depth + 1)
    if isinstance(node, ast.Subscript):
        return _entry(reader, node, depth)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return _comprehended(reader, node, depth)
    return _called(reader, node, depth) if isinstance(node, ast.Call) else None


def _listed(reader: _Reader, nodes: list[ast.expr], depth: int) -> list[str]:
    found: list[str] = []
    for node in nodes:
        found += taken_apart(node, reader.lines) or _flat(_known(reader, node, depth + 1))
        if len(found) > MAX_DECLARED:
            break
    return found[:MAX_DECLARED]


def _table(reader: _Reader, node: ast.Dict, depth: int) -> Table:
    found: Table = {}
    for key, value in zip(node.keys[:400], node.values[:400], strict=True):
        known = _known(reader, value, depth + 1)
        if key is None and isinstance(known, dict):
            found.update(known)
        name = _known(reader, key, depth + 1) if key is not None else None
        if isinstance(name, str) and known is not None:
            found[name] = known
    return found


def _sum(reader: _Reader, node: ast.BinOp, depth: int) -> Known | None:
    left, right = _known(reader, node.left, depth + 1), _known(reader, node.right, depth + 1)
    if isinstance(left, str) and (isinstance(right, str) or right is None):
        if isinstance(node.op, ast.Mod):
            return left.replace("%s", right, 1) if right else left
        return (left + (right or ""))[:400]
    return [*_flat(left), *_flat(right)][:MAX_DECLARED]


def _entry(reader: _Reader, node: ast.Subscript, depth: int) -> Known | None:
    """Return an entry of a table. A table that is computed from a list is keyed by names: ``deps["torch"]``."""
    owner, key = _known(reader, node.value, depth + 1), _known(reader, node.slice, depth + 1)
    if isinstance(owner, dict) or (isinstance(owner, list) and not isinstance(key, str)):
        return owner if isinstance(owner, list) else owner.get(key) if isinstance(key, str) else None
    return reader.table.get(package_name(key)) if isinstance(key, str) else None


def _comprehended(reader: _Reader, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, depth: int) -> Known | None:
    """Return what a comprehension ranges over: what it does to each line (strip, filter) is what reading does anyway."""
    ranged = _known(reader, node.generators[0].iter, depth + 1)
    if isinstance(node.elt, ast.Subscript):  # [deps[name] for name in names]
        return [reader.table.get(package_name(name), name) for name in _flat(ranged)]
    return _flat(ranged)


def _table_made(reader: _Reader, node: ast.DictComp, depth: int) -> Known | None:
    """Return a table that is made of another, entry by entry: ``{k: v for k, v in lists.items() if k not in ["install"]}``."""
    made, target = node.generators[0], node.generators[0].target
    table = _known(reader, made.iter, depth + 1)
    names = [each.id for each in target.elts if isinstance(each, ast.Name)] if isinstance(target, ast.Tuple) else []
    if not isinstance(table, dict) or len(names) != 2 or len(node.generators) > 1:
        return None
    before, found = dict(reader.names), dict[str, Known]()
    for key, value in list(table.items())[:400]:
        reader.names.update(zip(names, (key, value), strict=True))
        name, known = _known(reader, node.key, depth + 1), _known(reader, node.value, depth + 1)
        if (
            isinstance(name, str)
            and known is not None
            and not any(leaves_out(test, names[0], key) for test in made.ifs)
        ):
            found[name] = known
    reader.names = before
    return found


def _called(reader: _Reader, node: ast.Call, depth: int) -> Known | None:
    """Return what a call gives: the lines of a file that it reads, a list that a function returns, a list made of another."""
    name = dotted_name(node.func) or ""
    last = name.rpartition(".")[2]
    texts = [text for argument in node.args[:200] for text in _flat(_known(reader, argument, depth + 1))]
    files = [text for text in texts if is_list_file(text)]
    if name in reader.functions:
        return _from_function(reader, reader.functions[name], texts, depth)
    if files and last in {"join", "joinpath", "abspath"}:
        return files[-1]
    if files and last in _OPENS:
        return [text if text.startswith(_FILE) else f"{_FILE}{text}" for text in files]
    if last in _KEEPS:
        return texts
    if not isinstance(node.func, ast.Attribute) or last not in _METHODS:
        return [f"{_FILE}{text}" for text in files if not text.startswith(_FILE)] or None
    owner = _known(reader, node.func.value, depth + 1)
    if isinstance(owner, str) and is_list_file(owner):
        return [f"{_FILE}{owner}"]
    if isinstance(owner, str) and last in {"split", "splitlines"}:
        return [line.strip() for line in owner.split("\n")][:MAX_DECLARED]
    return owner


def _from_function(reader: _Reader, function: ast.FunctionDef, texts: list[str], depth: int) -> Known | None:
    """Return what a function of the program gives: the file it is told or starts with, entries of a table, or its own list."""
    defaults = [d.value for d in function.args.defaults if isinstance(d, ast.Constant) and isinstance(d.value, str)]
    files = [text for text in texts if is_list_file(text)] or [
        text for text in defaults if not texts and is_list_file(text)
    ]
    if files:
        return [text if text.startswith(_FILE) else f"{_FILE}{text}" for text in files]
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if texts and any(isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Subscript) for node in returns):
        return [reader.table.get(package_name(text), text) for text in texts]
    return next((value for node in returns if (value := _known(reader, node, depth + 1))), None)


def _flat(value: Known | None) -> list[str]:
    if not isinstance(value, (dict, list)):
        return [] if value is None else [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _flat(inner)][:MAX_DECLARED]
    return value


def _name(reader: _Reader, tree: ast.Module) -> str:
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and (dotted_name(n.func) or "").endswith("setup")]
    for word in (word for call in calls for word in call.keywords):
        known = _known(reader, word.value) if word.arg == "name" else None
        if isinstance(known, str):
            return package_name(known)
    return ""
