"""Expressions of a program as text where they are constant, else as what they are made of: names, parts, an entry of a table."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, cast

from gpu_lol_action.analysis.python.numbers import MAX_NUMBER, number_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_TEXT, MAX_COMMAND = 300, 2000
_STARTS = ("accelerate ", "bash ", "deepspeed ", "python ", "python3 ", "torchrun ", "CUDA_")
MAX_PARTS = 12
_MARK = regex(r"\{\w*(?::[^{}]{0,12})?\}")

_CARDS = regex(
    r"(?i:n_?gpus?|ngpus_per_node|num_gpus|gpu_count|(?:get_)?world_size|n_?devices|num_devices|(?:local_)?device_count|num_replicas|num_processes)"
)


@record(frozen=True, slots=True)
class Value:
    """An argument or default as text; else what stands for it.

    ``reference`` is the last word of a name (``args.model``), ``path`` the whole name; ``parts`` are joined
    (``f"{org}/{name}"``); ``table`` is the name of a dictionary from which ``key`` takes an entry; ``otherwise`` is what
    counts where all of these are unknown (``args.model or "gpt2"``). ``items`` are a list's values, whose text has them
    between commas. A text with a ``path`` is what counts where the environment says nothing.
    """

    text: str | None
    reference: str | None = None
    path: str | None = None
    parts: tuple[Value, ...] = ()
    table: str | None = None
    key: Value | None = None
    otherwise: Value | None = None
    items: tuple[Value, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is not known, but names what may tell it: of a row, every entry that is not known does."""
        if self.text is not None:
            return False
        is_row = bool(self.items) and all(item.text is not None or item.is_open for item in self.items)
        return bool(self.reference or self.parts or self.table or self.otherwise) or is_row


NOTHING = Value(None)
# What makes a parameter or field, with its default inside: of dataclasses, Pydantic, Typer, FastAPI, cog.
_FIELDS = frozenset({"field", "Field", "Option", "Argument", "Query", "Form", "Body", "Input"})
STARRED = Value(None, path="*")
"""What stands for as many arguments as nobody knows (``*args``)."""
ENVIRONMENT = "os.environ"
"""What the path of a value begins with that the environment has to give."""
# What is done to a path, or fetched by its name, leaves what it is the name of.
_AS_IT_IS = frozenset(
    {
        "int",
        "float",
        "str",
        "Path",
        "PurePath",
        "expanduser",
        "expandvars",
        "abspath",
        "realpath",
        "normpath",
        "maybe_download_model",
    }
)


def dotted_name(node: ast.AST) -> str | None:
    """Return ``a.b.c`` for a chain of names; a call in the middle counts as its own name (``Model().to``)."""
    name = ""
    given: Any = node
    for _ in range(12):
        kind = type(given)
        if kind is ast.Name:
            return f"{given.id}.{name}" if name else cast("str", given.id)
        if kind is ast.Attribute:
            name = f"{given.attr}.{name}" if name else given.attr
            given = given.value
        elif kind is ast.Call:
            given = given.func
        elif kind is ast.Subscript:
            given = given.value
        else:
            break
    return name or None


def value_of(node: ast.AST, depth: int = 0) -> Value:
    """Return an expression as text, or what stands for it; nothing where it can only be computed."""
    given: Any = node
    kind = type(given)
    if kind is ast.Constant:
        return Value(_constant(given.value))
    if depth > 4:
        return NOTHING
    if kind is ast.Name:  # most are names
        return Value(None, given.id, given.id)
    if kind is ast.Attribute:
        dotted = dotted_name(node) or ""
        if dotted.startswith(("torch.", "jnp.", "np.")):
            return Value(dotted)
        row = value_of(given.value, depth + 1) if type(given.value) is ast.Subscript else NOTHING
        return replace(entry_of(row, Value(given.attr)), reference=given.attr, path=dotted)
    if kind is ast.Call:
        return _of_call(given, depth)
    if kind is ast.List or kind is ast.Tuple:
        items = tuple([value_of(item, depth + 1) for item in given.elts[:40]])
        text = ",".join([item.text for item in items if item.text is not None])[:MAX_TEXT] or None
        return Value(text, items=items if depth == 0 else ())
    return _of_rarer(node, depth)


def _of_rarer(node: ast.AST, depth: int) -> Value:
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        number = number_of(node)
        if number is not None:
            return Value(f"{number:g}" if isinstance(number, float) else str(number))
        return (_shared_out(node) or _put_together(node, depth)) if isinstance(node, ast.BinOp) else NOTHING
    if isinstance(node, ast.IfExp):
        first = value_of(node.body, depth + 1)
        # `sys.argv[1] if len(sys.argv) > 1 else "gpt2"` names what is taken; `x.size(0) if x.ndim == 3 else 1` is a special case.
        is_name = isinstance(node.orelse, ast.Constant) and isinstance(node.orelse.value, str)
        return _either(first, value_of(node.orelse, depth + 1)) if is_name else first
    if isinstance(node, ast.JoinedStr):
        inner = [item.value if isinstance(item, ast.FormattedValue) else item for item in node.values]
        return _joined([value_of(item, depth + 1) for item in inner])
    if isinstance(node, ast.Subscript):
        return _entry(node, depth)
    if isinstance(node, ast.Compare):
        return _compared(node, depth)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        first, *rest = (value_of(item, depth + 1) for item in node.values[:4])
        return _either(first, rest[0]) if rest else first
    if isinstance(node, ast.Starred):
        return STARRED
    if isinstance(node, ast.Lambda):  # `default_factory=lambda: "…"`
        return value_of(node.body, depth + 1)
    return NOTHING


def _compared(node: ast.Compare, depth: int) -> Value:
    """Return whether a text that is known is another one, or one of several (``os.getenv("FAST", "true").lower() == "true"``)."""
    left, right = value_of(node.left, depth + 1), value_of(node.comparators[0], depth + 1)
    if len(node.ops) > 1 or left.text is None or right.text is None:
        return NOTHING
    if isinstance(node.ops[0], ast.Eq):
        return Value(str(left.text == right.text))
    return Value(str(left.text in right.text.split(","))) if isinstance(node.ops[0], ast.In) else NOTHING


def _constant(value: object) -> str | None:
    """Return a literal's text; Python refuses to write out an integer of thousands of digits, and so do we."""
    if isinstance(value, int) and abs(value) >= MAX_NUMBER:
        return None
    if isinstance(value, str):
        return value[: longest_of(value)]
    return str(value)[:MAX_TEXT] if isinstance(value, (str, int, float)) else None


def longest_of(text: str) -> int:
    """Return how much of a text is kept: of a command with all its options more than of any other."""
    return MAX_COMMAND if text.startswith(_STARTS) else MAX_TEXT


def _either(first: Value, second: Value) -> Value:
    """Return the first value, and the second for where that one stays unknown."""
    if first.text is not None:
        return first
    if not first.is_open:
        return second
    return Value(None, first.reference, first.path, first.parts, first.table, first.key, first.otherwise or second)


def _joined(parts: list[Value]) -> Value:
    """Return texts that are put together: one text where all of them are known."""
    if not parts or len(parts) > MAX_PARTS or any(part.text is None and not part.is_open for part in parts):
        return NOTHING
    if all(part.text is not None for part in parts):
        whole = "".join(part.text or "" for part in parts)
        return Value(whole[: longest_of(whole)])
    return Value(None, parts=tuple(parts))


def _shared_out(node: ast.BinOp) -> Value | None:
    """Return the number that a program divides by its processes or cards (``128 // args.n_gpu``): what all of them have together."""
    if not isinstance(node.op, (ast.FloorDiv, ast.Div)):
        return None
    number = number_of(node.left)
    word = (dotted_name(node.right) or "").rpartition(".")[2] if number is not None else ""
    return Value(f"{number:g}") if _CARDS.fullmatch(word) else None


def _put_together(node: ast.BinOp, depth: int) -> Value:
    """Return texts that ``+`` or a path's ``/`` join; sums of numbers that are not known stay unknown."""
    if not isinstance(node.op, (ast.Add, ast.Div)):
        return NOTHING
    left, right = value_of(node.left, depth + 1), value_of(node.right, depth + 1)
    is_text = any(_is_text(side) for side in (node.left, node.right))
    if not is_text:
        return NOTHING
    return _joined([left, *([Value("/")] if isinstance(node.op, ast.Div) else []), right])


def _is_text(node: ast.AST) -> bool:
    """Whether an expression is a text or a path, so that joining it with another makes one."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.Call):
        return (dotted_name(node.func) or "").rpartition(".")[2] in {"Path", "str", "join", "format"}
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _entry(node: ast.Subscript, depth: int) -> Value:
    """Return an entry of a dictionary: ``MODELS[args.size]``, or of a configuration: ``cfg["model"]["name"]``."""
    key = value_of(node.slice, depth + 1)
    owner = value_of(node.value, depth + 1)
    name = owner.path or owner.reference
    if name is None:
        return entry_of(owner, key)
    if name in {"os.environ", "environ"}:
        return Value(None, key.text, f"{ENVIRONMENT}.{key.text}") if (key.text or "").isidentifier() else NOTHING
    if key.text is not None and key.text.isidentifier():
        return Value(None, key.text, f"{name}.{key.text}", table=owner.reference, key=key)
    return Value(None, table=owner.reference, key=key) if key.text is not None or key.is_open else NOTHING


def entry_of(row: Value, key: Value) -> Value:
    """Return an entry of what is itself an entry of a table (``MODELS[args.size]["id"]``): under both keys, with a dot between them."""
    if row.table is None or row.key is None or (key.text is None and not key.is_open):
        return NOTHING
    return Value(None, table=row.table, key=_joined([row.key, Value("."), key]))


def _of_call(node: ast.Call, depth: int) -> Value:
    """Return what a call stands for: a fallback (``os.environ.get``, ``field(default=…)``), a conversion, a joined path."""
    name = (dotted_name(node.func) or "").rpartition(".")[2]
    arguments = node.args
    if name in {"get", "getenv"} and arguments:
        return _looked_up(node, depth)
    if name in _AS_IT_IS and len(arguments) == 1:
        return value_of(arguments[0], depth + 1)
    if name in {"lower", "strip"} and not arguments and isinstance(node.func, ast.Attribute):
        bare = value_of(node.func.value, depth + 1)
        return bare if bare.text is None else Value(bare.text.lower() if name == "lower" else bare.text.strip())
    if name == "join" and len(arguments) > 1:  # os.path.join
        parts = [value_of(argument, depth + 1) for argument in arguments[:MAX_PARTS]]
        return _joined([piece for part in parts for piece in (Value("/"), part)][1:])
    if name == "format" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant):
        return _formatted(node, node.func.value, depth)
    if name in _FIELDS:
        words = [word.value for word in node.keywords if word.arg in {"default", "default_factory"}]
        # Typer, Pydantic and FastAPI take the default in the first place; an ellipsis there says that there is none.
        words += arguments[:1] if name not in {"field", "Input"} else []
        return value_of(words[0], depth + 1) if words else NOTHING
    return NOTHING


def _looked_up(node: ast.Call, depth: int) -> Value:
    """Return ``os.environ.get("X", "fallback")`` as its fallback, which the environment may replace, ``TABLE.get(key, fallback)`` as the entry."""
    fallback = value_of(node.args[1], depth + 1) if len(node.args) == 2 else NOTHING
    owner = dotted_name(node.func.value) if isinstance(node.func, ast.Attribute) else None
    if owner is None or owner.rpartition(".")[2] in {"environ", "os"}:
        asked = value_of(node.args[0], depth + 1).text or ""
        if not asked.isidentifier() or fallback.is_open or fallback.items:
            return fallback
        return Value(fallback.text, asked, f"{ENVIRONMENT}.{asked}")
    key = value_of(node.args[0], depth + 1)
    if key.text is None and not key.is_open:
        return fallback
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Subscript):
        row = entry_of(value_of(node.func.value, depth + 1), key)
        if row.is_open:
            return replace(row, otherwise=fallback)
    is_name = key.text is not None and key.text.isidentifier()
    return Value(None, key.text if is_name else None, f"{owner}.{key.text}" if is_name else None,
                 table=owner.rpartition(".")[2], key=key, otherwise=fallback)  # fmt: skip


def _formatted(node: ast.Call, pattern: ast.Constant, depth: int) -> Value:
    """Return ``"{}/{}".format(a, b)`` as its parts; marks with numbers or names are taken in their order all the same."""
    if not isinstance(pattern.value, str):
        return NOTHING
    pieces = _MARK.split(pattern.value)
    given = [*node.args, *(word.value for word in node.keywords)]
    if len(given) != len(pieces) - 1:
        return NOTHING
    parts = [Value(pieces[0])]
    for argument, piece in zip(given, pieces[1:], strict=True):
        parts += [value_of(argument, depth + 1), Value(piece)]
    return _joined(parts)
