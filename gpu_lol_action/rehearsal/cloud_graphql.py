"""GraphQL, as much as a query or mutation without named fragments needs: text to operation, and an answer cut to what was asked.

The grammar is that of the GraphQL specification (October 2021), sections 2.2 to 2.9, for executable documents with one
operation. What is not understood is an error: a stand-in that guesses would hide a client's mistakes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = object
"""A JSON value; an enum is a string."""

_TOKEN = re.compile(
    r"""(?P<skip>(?:[\s,\ufeff]|\#[^\n\r]*)+)|(?P<block>\"\"\"(?:\\\"\"\"|[\s\S])*?\"\"\")|(?P<string>"(?:\\.|[^"\\\n\r])*")"""
    r"""|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[_A-Za-z]\w*)|(?P<mark>\.\.\.|[!$&()\[\]{}:=@|])"""
)
_KEYWORDS: Mapping[str, Value] = {"true": True, "false": False, "null": None}


class GraphqlError(ValueError):
    """The text is not a query that we read, or asks for a field that is not there."""


@dataclass(frozen=True, slots=True)
class Field:
    """One selected field with its arguments and what is selected inside it."""

    name: str
    alias: str
    arguments: Mapping[str, Value] = field(default_factory=dict)
    selection: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """A query or a mutation with its top-level fields."""

    kind: str
    fields: tuple[Field, ...]


def parse_operation(text: str, variables: Mapping[str, Value] | None = None) -> Operation:
    """Return the document's only operation, with variables put in; raises GraphqlError."""
    return _Parser(_tokens(text), variables or {}).operation()


def _tokens(text: str) -> list[tuple[str, str]]:
    found, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise GraphqlError(f"Syntax Error: unexpected character {text[position]!r} at {position}")
        position = match.end()
        if match.lastgroup != "skip":
            found.append((str(match.lastgroup), match.group()))
    return found


class _Parser:
    """Reads tokens from left to right; state is the position."""

    def __init__(self, tokens: list[tuple[str, str]], variables: Mapping[str, Value]) -> None:
        self._tokens, self._variables, self._position = tokens, variables, 0

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._position] if self._position < len(self._tokens) else ("end", "<EOF>")

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        self._position += 1
        return token

    def _expect(self, text: str) -> None:
        found = self._next()[1]
        if found != text:
            raise GraphqlError(f"Syntax Error: expected {text!r}, found {found!r}")

    def _name(self) -> str:
        kind, text = self._next()
        if kind != "name":
            raise GraphqlError(f"Syntax Error: expected a name, found {text!r}")
        return text

    def operation(self) -> Operation:
        """Read the document."""
        kind = "query"
        if self._peek()[0] == "name":
            kind = self._name()
            if kind not in ("query", "mutation"):
                raise GraphqlError(f"Syntax Error: {kind!r} is not served")
            if self._peek()[0] == "name":
                self._name()
            if self._peek()[1] == "(":
                self._variable_definitions()
        fields = self._selection()
        if self._peek()[0] != "end":
            raise GraphqlError(f"Syntax Error: one operation is served, found {self._peek()[1]!r} after it")
        return Operation(kind, fields)

    def _variable_definitions(self) -> None:
        """Skip the types: values are checked where they are used."""
        depth = 0
        while True:
            kind, text = self._next()
            depth += {"(": 1, ")": -1}.get(text, 0)
            if kind == "end":
                raise GraphqlError("Syntax Error: expected ')', found <EOF>")
            if depth == 0:
                return

    def _selection(self) -> tuple[Field, ...]:
        self._expect("{")
        fields: list[Field] = []
        while self._peek()[1] != "}":
            if self._peek()[1] == "...":
                fields.extend(self._inline_fragment())
            else:
                fields.append(self._field())
        self._expect("}")
        if not fields:
            raise GraphqlError("Syntax Error: expected a name, found '}'")
        return tuple(fields)

    def _inline_fragment(self) -> tuple[Field, ...]:
        """Read ``... on Type { fields }``: the stand-ins' answers have one type, so its fields are just more of them."""
        self._expect("...")
        if self._name() != "on":
            raise GraphqlError("Syntax Error: named fragments are not served")
        self._name()
        return self._selection()

    def _field(self) -> Field:
        if self._peek()[1] == "@":
            raise GraphqlError("Syntax Error: directives are not served")
        alias = name = self._name()
        if self._peek()[1] == ":":
            self._next()
            name = self._name()
        arguments: dict[str, Value] = {}
        if self._peek()[1] == "(":
            self._next()
            arguments = self._pairs(")")
        selection = self._selection() if self._peek()[1] == "{" else ()
        return Field(name, alias, arguments, selection)

    def _pairs(self, end: str) -> dict[str, Value]:
        pairs: dict[str, Value] = {}
        while self._peek()[1] != end:
            name = self._name()
            self._expect(":")
            pairs[name] = self._value()
        self._expect(end)
        return pairs

    def _value(self) -> Value:
        kind, text = self._next()
        if kind == "string":
            return json.loads(text, strict=False)
        if kind == "block":
            return text[3:-3]
        if kind == "number":
            return json.loads(text)
        if kind == "name":
            return _KEYWORDS.get(text, text)
        if text == "{":
            return self._pairs("}")
        if text == "[":
            items = []
            while self._peek()[1] != "]":
                items.append(self._value())
            self._expect("]")
            return items
        if text == "$":
            name = self._name()
            if name not in self._variables:
                raise GraphqlError(f'Variable "${name}" is not given.')
            return self._variables[name]
        raise GraphqlError(f"Syntax Error: expected a value, found {text!r}")


def project(answer: Value, selection: tuple[Field, ...], type_name: str) -> Value:
    """Return ``answer`` with the selected fields only; raises GraphqlError for one that the object does not have."""
    if answer is None:
        return None
    if isinstance(answer, list):
        return [project(item, selection, type_name) for item in answer]
    if not isinstance(answer, dict):
        if selection:
            raise GraphqlError(f"Field {type_name!r} must not have a selection since it is a scalar.")
        return answer
    if not selection:
        raise GraphqlError(f"Field {type_name!r} must have a selection of subfields.")
    chosen: dict[str, Value] = {}
    for wanted in selection:
        if wanted.name not in answer:
            raise GraphqlError(f'Cannot query field "{wanted.name}" on "{type_name}".')
        chosen[wanted.alias] = project(answer[wanted.name], wanted.selection, wanted.name)
    return chosen
