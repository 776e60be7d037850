"""What a file of gin-config says: bindings of parameters, macros, and the files that it includes.

The syntax is that of https://github.com/google/gin-config/blob/master/docs/index.md. Nothing is evaluated: a reference to a
function (``@fn``, ``@fn()``) has no value here, and a macro (``%NAME``) is written as the place that its value goes to (``${name}``).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_STATEMENTS, MAX_TOKENS, MAX_DEPTH, MAX_TEXT = 2000, 400, 20, 300

_TOKEN = regex(
    r"(?P<space>(?:[ \t\r\f]|\\\r?\n)+|#[^\n]*)|(?P<line>\n)"
    r"|(?P<long>'''(?:[^'\\]|\\[\s\S]|'(?!'')){0,2000}'''|\"\"\"(?:[^\"\\]|\\[\s\S]|\"(?!\"\")){0,2000}\"\"\")"
    r"|(?P<text>'(?:[^'\\\n]|\\.){0,2000}'|\"(?:[^\"\\\n]|\\.){0,2000}\")"
    r"|(?P<number>[-+]?\.?\d[\w.]*(?:(?<=[eE])[-+]\d+)?)|(?P<name>[A-Za-z_][\w./]*)"
    r"|(?P<macro>%[\w./]+)|(?P<made>@[\w./]+(?:\(\))?)|(?P<mark>[()\[\]{},:=])|(?P<other>[\s\S])"
)
_NAMED: dict[str, bool | None] = {"True": True, "False": False, "None": None}
_SHOWN = {"(": ")", "[": "]", "{": "}"}
_NOTHING = object()
_Token = tuple[str, str]


@record(frozen=True, slots=True)
class Binding:
    """A parameter's or a macro's value: the scope that it holds in (none: in all), its dotted name, and the line from 1."""

    scope: str
    name: str
    value: object
    line: int


@record(frozen=True, slots=True)
class GinText:
    """What one file says: its bindings in their order, of which a later one of a name counts, and the paths that it includes."""

    bindings: tuple[Binding, ...]
    includes: tuple[str, ...]


def read_gin(text: str) -> GinText:
    """Return what a file of gin-config says; a statement that is none is left out, and the others are still read."""
    bindings: list[Binding] = []
    includes: list[str] = []
    block = ""
    for line, is_inner, tokens in _statements(text):
        block = block if is_inner else ""
        kinds = [kind for kind, _ in tokens]
        if kinds == ["name", "text"] and tokens[0][1] == "include":
            includes.append(tokens[1][1][1:-1])
        elif kinds == ["name", "mark"] and tokens[1][1] == ":":
            block = f"{tokens[0][1]}."
        elif kinds[:2] == ["name", "mark"] and tokens[1][1] == "=":
            value = _value(tokens[2:])
            scope, _, name = f"{block}{tokens[0][1]}".rpartition("/")
            if value is not _NOTHING:
                bindings.append(Binding(scope, name, value, line))
    return GinText(tuple(bindings), tuple(includes))


def _statements(text: str) -> Iterator[tuple[int, bool, list[_Token]]]:
    """Yield each statement's first line, whether it is indented, and its words; one over several lines stands in brackets."""
    tokens: list[_Token] = []
    line, first, start, depth, count = 1, 1, 0, 0, 0
    is_inner = False
    for found in _TOKEN.finditer(text):
        kind, word = found.lastgroup or "other", found[0]
        if kind == "line" and depth <= 0:
            if tokens and len(tokens) <= MAX_TOKENS:
                yield first, is_inner, tokens
                count += 1
            if count >= MAX_STATEMENTS:
                return
            tokens, depth = [], 0
        elif kind not in {"space", "line"}:
            if not tokens:
                first, is_inner = line, found.start() > start
            if len(tokens) <= MAX_TOKENS:
                tokens.append((kind, word))
            depth += (word in _SHOWN) - (word in _SHOWN.values())
        if "\n" in word:
            line, start = line + word.count("\n"), found.end()
    if tokens and depth <= 0 and len(tokens) <= MAX_TOKENS:
        yield first, is_inner, tokens


def _value(tokens: list[_Token]) -> object:
    """Return a literal: a text, a number, a switch, a list (also of a tuple) or a table of these; ``_NOTHING`` where it is none."""
    stack: list[tuple[str, list[object]]] = [("", [])]
    for kind, word in tokens:
        if word in _SHOWN and kind == "mark":
            if len(stack) > MAX_DEPTH:
                return _NOTHING
            stack.append((word, []))
        elif kind == "mark" and word in ")]}":
            opened, items = stack.pop()
            if _SHOWN.get(opened) != word:
                return _NOTHING
            stack[-1][1].append(_table(items) if opened == "{" else items)
        elif kind != "mark":
            stack[-1][1].append(_plain(kind, word))
        elif word == "=":
            return _NOTHING
    items = stack[0][1]
    return items[0] if len(stack) == 1 and len(items) == 1 else _NOTHING


def _table(items: list[object]) -> dict[str, object]:
    return {str(key): value for key, value in zip(items[::2], items[1::2], strict=False) if isinstance(key, str)}


def _plain(kind: str, word: str) -> object:
    if kind == "text":
        return word[1:-1][:MAX_TEXT]
    if kind == "long":
        return word[3:-3][:MAX_TEXT]
    if kind == "macro":
        return f"${{{word[1:].lower()}}}" if "/" not in word and word != "%gin.REQUIRED" else None
    if kind == "name" and word in _NAMED:
        return _NAMED[word]
    if kind != "number" or len(word) > 30:
        return _NOTHING
    digits = word.replace("_", "")
    try:
        return int(digits) if digits.lstrip("+-").isdecimal() else float(digits)
    except ValueError:
        return _NOTHING
