"""A Python program that is asked what it says: answered from its text where that is enough, else from its syntax tree."""

from __future__ import annotations

import bisect
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from gpu_lol_action.analysis.formats.gpu_libraries import OF_SERIES, brought_by, uses_networks_for_series
from gpu_lol_action.analysis.formats.texts import import_lines, may_give, text_of
from gpu_lol_action.analysis.python.defaults import Call, Default, Given
from gpu_lol_action.analysis.python.faulty import parse_mostly
from gpu_lol_action.analysis.python.gives import scan_gives
from gpu_lol_action.analysis.python.names import Names
from gpu_lol_action.analysis.python.parse_budget import ParseBudget
from gpu_lol_action.analysis.python.scan import Import, Quoted, scan_imports, scan_main, scan_names
from gpu_lol_action.analysis.python.syntax import parse_cost
from gpu_lol_action.analysis.python.tree import Facts, Signature, read_block, read_tree
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.patterns import regex

__all__ = ["Call", "Default", "Import", "ParseBudget", "PythonCode", "read_python"]

Answer = TypeVar("Answer")

_WORD = regex(r"\w+")
UNPARSED = "not parsed, for other programs came first"
MAX_CHECKED_AGAIN = 400_000
"""Bytes of ordinary code that a program may cost by which nothing is decided, when it is tried without its faults."""


class PythonCode:
    """What one program says, found out when it is asked: from its text where that is enough, else from its syntax tree.

    ``lines`` maps its lines to those of the file (notebooks). Compared by identity; the same questions in the same
    order get the same answers.
    """

    __slots__ = (
        "_asked", "_budget",
        "_checked",
        "_content",
        "_defaults",
        "_edges",
        "_facts",
        "_fault",
        "_first",
        "_has_main",
        "_import_lines",
        "_imported",
        "_imports",
        "_is_checked",
        "_lines",
        "_names",
        "_open",
        "_places",
        "_reach",
    )  # fmt: skip

    def __init__(self, content: bytes | str = "", lines: Sequence[int] = (), budget: ParseBudget | None = None) -> None:
        self._content, self._lines, self._budget = content, lines, budget
        self._facts: Facts | None = None
        self._checked: str | None = None
        self._fault = 0
        self._is_checked = False
        self._imports: tuple[Import, ...] | None = None
        self._has_main: bool | None = None
        self._edges: array[int] = array("I")
        self._reach = 0
        self._asked: dict[tuple[str, ...], bool] = {}
        self._names: Names | None = None
        self._import_lines: str | None = None
        self._imported: frozenset[str] | None = None
        self._places: dict[str, array[int]] | None = None
        self._defaults: tuple[Default, ...] | None = None
        self._open: tuple[Given, ...] | None = None
        self._first: dict[str, Default] | None = None

    @property
    def imports(self) -> tuple[Import, ...]:
        """What is imported, by line; also of programs of which only the rest is broken."""
        if self._imports is None:
            scanned = self._scan(lambda text, quoted: scan_imports(text, quoted, self._read_block))
            if scanned is None:
                self._imports = self._tree().imports
            else:
                placed = (replace(i, line=self.line_of_file(i.line)) for i in scanned) if self._lines else scanned
                self._imports = tuple(placed)
        return self._imports

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, by line."""
        return self._tree().calls

    @property
    def defaults(self) -> tuple[Default, ...]:
        """All values that the program starts with and that it tells by itself, by line."""
        if self._defaults is None:
            known = ((item, self.resolve(item.value, item.owner)) for item in self._tree().given if item.is_start)
            self._defaults = tuple(
                Default(i.name, text, i.line, i.is_option, i.owner, i.is_parameter)
                for i, text in known
                if text is not None
            )
        return self._defaults

    @property
    def given(self) -> tuple[Given, ...]:
        """All names with their values as written, by line."""
        return self._tree().given

    @property
    def signatures(self) -> Mapping[str, Signature]:
        """What its functions, and its classes' constructors under the class's name, take."""
        return self._tree().signatures

    @property
    def open_defaults(self) -> tuple[Given, ...]:
        """Values that the program starts with and that only another program tells (an imported constant)."""
        if self._open is None:
            given = (item for item in self._tree().given if item.is_start and item.value.is_open)
            self._open = tuple(item for item in given if self.resolve(item.value, item.owner) is None)
        return self._open

    @property
    def has_main(self) -> bool:
        """Whether there is a guard ``if __name__ == "__main__"``."""
        if self._has_main is None:
            scanned = self._scan(scan_main)
            self._has_main = self._tree().has_main if scanned is None else scanned
        return self._has_main

    @property
    def is_broken(self) -> bool:
        """Whether it is not valid Python 3 as a whole, or nothing that can be parsed safely."""
        return self._tree().trouble is not None or self._tree().fault > 0

    @property
    def trouble(self) -> str | None:
        """Why the program was not understood, as far as it was asked; None where nothing is known to be wrong."""
        return self._facts.trouble if self._facts else self._checked

    @property
    def fault(self) -> int:
        """The line of the first statement that is no valid Python where the rest was read; 0 where nothing is known to be wrong."""
        return self._facts.fault if self._facts else self._fault

    def check(self) -> int:
        """Find out whether it is broken, if that is not known, and keep nothing else; return how many bytes were parsed."""
        if self._facts is not None or self._is_checked:
            return 0
        self._is_checked = True
        spent = ParseBudget(MAX_CHECKED_AGAIN)
        tree, fault = parse_mostly(self._text(), spent.take)
        self._checked, self._fault = tree if isinstance(tree, str) else None, self.line_of_file(fault)
        return len(self._content) + spent.taken_bytes

    def imported(self) -> frozenset[str]:
        """Return the top-level names of all modules imported, and of those that stand behind a part of another library."""
        if self._imported is None:
            others = [item for item in self.imports if not item.module.startswith(".")]
            series = [(item.module, item.names) for item in others if item.module.startswith(OF_SERIES)]
            is_idle = bool(series) and not uses_networks_for_series(series, self._text())
            items = [item for item in others if not (is_idle and item.module.startswith(OF_SERIES))]
            brought = {brought_by(item.module, item.names) for item in items} - {None}
            self._imported = frozenset(
                {*(item.module.split(".")[0] for item in others), *(each for each in brought if each)}
            )
        return self._imported

    def may_import(self, name: str) -> bool:
        """Whether a name may stand in an import of the program: a look at the lines of these, and not at what they say."""
        return name in self.lines_of_imports()

    def may_import_any(self, names: frozenset[str]) -> bool:
        """Whether one of these names, each of one word, may stand in an import of the program."""
        return not names.isdisjoint(_WORD.findall(self.lines_of_imports()))

    def lines_of_imports(self) -> str:
        """Return the lines in which all stands that the program imports, and others."""
        if self._import_lines is None:
            self._import_lines = import_lines(self._content)
        return self._import_lines

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
        """Return the default of that name: an option's (parser, dataclass) before a plain assignment.

        No tree is built where nothing looks as if it gave the name a value.
        """
        if self._first is None and self._facts is None and not self._may_give(name):
            return None
        if self._first is None:
            first: dict[str, Default] = {}
            for item in self.defaults:
                known = first.setdefault(item.name, item)
                if item.is_option and not known.is_option:
                    first[item.name] = item
            self._first = first
        return self._first.get(name)

    def names(self) -> Names:
        """Return what the names of this program stand for."""
        if self._names is None:
            facts = self._tree()
            texts: dict[str, tuple[str, bool]] = {}
            own: dict[tuple[str, str], str] = {}
            values: dict[str, Value] = {}
            for item in facts.given:
                text = item.value.text
                if text is None:
                    if item.value.is_open and (item.value.reference != item.name or "." in (item.value.path or "")):
                        values.setdefault(item.name, item.value)
                elif item.name not in texts or (item.is_option and not texts[item.name][1]):
                    texts[item.name] = (text, item.is_option)
                if text is not None and item.owner:
                    own.setdefault((item.owner, item.name), text)
            self._names = Names({name: text for name, (text, _) in texts.items()}, values, facts.tables, own)
        return self._names

    def resolve(self, value: Value | None, owner: str = "") -> str | None:
        """Return a value's text, following names to what they stand for in the same program, first in the same function."""
        if value is None or value.text is not None or not value.is_open:
            return value.text if value else None
        return self.names().resolve(value, owner)

    def _by_word(self) -> Mapping[str, array[int]]:
        """Return the places of calls by their last word: asked of the same programs by every run that imports them."""
        if self._places is None:
            places: dict[str, array[int]] = {}
            for place, call in enumerate(self.calls):
                places.setdefault(call.last, array("I")).append(place)
            self._places = places
        return self._places

    def line_of(self, pattern: re.Pattern[str]) -> int:
        """Return the line on which an expression is first met outside of strings and remarks; 0 where it is not."""
        return self._scan(lambda text, quoted: self._line_in(text, quoted, pattern))

    def _line_in(self, text: str, quoted: Quoted, pattern: re.Pattern[str]) -> int:
        place = next((found.start() for found in pattern.finditer(text) if found.start() not in quoted), -1)
        return self.line_of_file(text.count("\n", 0, place) + 1) if place >= 0 else 0

    def _text(self) -> str:
        # Decoded each time: kept as text, one emoji in a program would make each of its characters four bytes.
        return self._content if isinstance(self._content, str) else text_of(self._content)

    def _scan(self, look: Callable[[str, Quoted], Answer]) -> Answer:
        """Return what a look at the text says; where its strings lie is kept for the next."""
        text = self._text()
        quoted = Quoted(text, self._edges, self._reach)
        answer = look(text, quoted)
        self._reach = quoted.reach
        return answer

    def _read_block(self, block: str, guard: int) -> Sequence[Import] | None:
        is_granted = self._budget is None or self._budget.take(parse_cost(block))
        return read_block(block, guard) if is_granted else None

    def _has_names(self, names: tuple[str, ...]) -> bool:
        if names not in self._asked:
            self._asked[names] = self._scan(lambda text, quoted: scan_names(text, quoted, names))
        return self._asked[names]

    def _may_give(self, name: str) -> bool:
        if not may_give(self._content, name):
            return False
        return not name.isascii() or self._scan(lambda text, quoted: scan_gives(text, quoted, name))

    def line_of_file(self, line: int) -> int:
        """Return the line of the file on which a line of the text stands: another one in notebooks."""
        return self._lines[line - 1] if 0 < line <= len(self._lines) else line

    def line_of_text(self, line: int) -> int | None:
        """Return the line of the text on which a line of the file stands: another one in notebooks; None where several stand on it."""
        if not self._lines:
            return line if line > 0 else None
        first = bisect.bisect_left(self._lines, line)
        return first + 1 if bisect.bisect_right(self._lines, line) - first == 1 else None

    def _tree(self) -> Facts:
        if self._facts is None:
            text = self._text()
            if self._budget is None or self._budget.take(parse_cost(text)):
                # What is no file of its own (a passage of a document) is a program as a whole or none.
                may_spend = (self._budget or ParseBudget(0)).take
                self._facts = read_tree(text, self.line_of_file if self._lines else None, may_spend)
            else:
                self._facts = Facts(trouble=UNPARSED)
        return self._facts


def read_python(text: str, lines: Sequence[int] = ()) -> PythonCode:
    """Return what a program says; never executes it. ``lines`` maps its lines to those of the file (notebooks)."""
    return PythonCode(text, lines)
