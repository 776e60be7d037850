"""What a Python program says to a look at its text: its imports, its main guard, which names stand in its code.

A syntax tree costs a hundred times what a regular expression does. Most programs of a large checkout are asked only
what they import, or whether they call one of a few functions; these questions are answered here without a tree, and
exactly: what a text alone cannot tell is answered by ``None``, and the tree decides.
"""

from __future__ import annotations

import bisect
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

# A string or a comment: first come, first served, as Python's own tokenizer reads them. No part of it can fail once it
# has begun, so that it never goes back: the end may be missing.
_STRING = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:""")?'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:''')?"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
    r"|#[^\n]*",
    re.DOTALL,
)
# The leading line feed lets the expression engine leap from line to line.
_HEADER = re.compile(r"\n([ \t]*)(try|except|finally|else|elif|if|def|async|class|with|for|while|match|case)\b")
_IMPORT = re.compile(r"import(?!\w)")
_FROM = re.compile(r"[ \t]*from[ \t]*(\.*)[ \t]*([\w.]*)[ \t]*")
_ASYNC_DEF = re.compile(r"[ \t]+def\b")
_PLAIN = re.compile(r"[ \t]+([^\n#]+)")
_LISTED = re.compile(r"[ \t]*(\([^()]*\)|[^\n#(]+)")
_MODULE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:[ \t]+as[ \t]+\w+)?")
_NAME = re.compile(r"([A-Za-z_]\w*|\*)(?:\s+as\s+\w+)?")
_MAIN = re.compile(r"[ \t]*if\b[ \t]*\(?[ \t]*__name__[ \t]*==[ \t]*(?:\"\w*\"|'\w*')[ \t]*\)?[ \t]*:")
_OWNED = re.compile(r"(?:\w|\.[ \t]*)\Z")
_IF = re.compile(r"\bif\b")
_DEFINES = re.compile(r"(?:^|\s)(?:def|class)[ \t]+\w*\Z")
# What stands behind a name that is called: its arguments, or an index before them; a comment may hide both.
_CALLED = re.compile(r"(?!\w)[\s\\)]*(?:[(\[#]|\Z)")
_WORD = re.compile(r"\w")
_CONDITIONS = frozenset({"try", "except", "finally", "elif", "if"})
# A handler near an import that ends the program: whether it is this import's, the tree tells.
_RAISES_AGAIN = re.compile(r"\n[ \t]*except\b[^\n]*:(?:[^\n]*\n){0,4}?[ \t]*(?:raise|sys\.exit|os\._exit|exit|quit)\b")
_RAISES_WITHIN = 800


@dataclass(frozen=True, slots=True)
class Import:
    """A module that is imported; ``is_optional`` inside ``try``, a function, or ``if``; ``is_lazy`` in a function and nothing else.

    A ``try`` whose handlers only raise again ("please install x") guards nothing. ``names`` are what is taken from it:
    where it is a folder, they may be modules too.
    """

    module: str
    line: int
    is_optional: bool
    is_lazy: bool = False
    names: tuple[str, ...] = ()


# When a statement runs: always, when its function is called, only sometimes.
ALWAYS, IN_FUNCTION, SOMETIMES = 0, 1, 2


class Quoted:
    """Where the strings and comments of a program lie, found when a place is first asked for.

    ``edges`` are begins and ends in turn, so that a place is found by halving; a caller keeps them, not the text.
    """

    __slots__ = ("_text", "edges")

    def __init__(self, text: str, edges: array[int] | None = None) -> None:
        self._text = text
        self.edges = edges

    def __contains__(self, place: int) -> bool:
        if self.edges is None:
            self.edges = array("I")
            for found in _STRING.finditer(self._text):
                self.edges.extend(found.span())
        return bool(bisect.bisect_right(self.edges, place) % 2)


def scan_main(text: str, quoted: Quoted) -> bool | None:
    """Return whether the program has a main guard; None where only the tree can tell."""
    is_open = False
    for found in re.finditer("__name__", text):
        start = text.rfind("\n", 0, found.start()) + 1
        # An attribute (`type(x).__name__`), or the end of a longer name, is no guard.
        if _OWNED.search(text, max(start, found.start() - 16), found.start()):
            continue
        # Most programs name a logger so: no condition, and where the strings lie need not be known.
        if not _IF.search(text, start, found.start()) or found.start() in quoted:
            continue
        if _MAIN.match(text, start):
            return True
        is_open = True
    return None if is_open else False


def scan_names(text: str, quoted: Quoted, names: Iterable[str]) -> bool:
    """Whether one of the names may be called in the code, outside strings and comments, and not as what is defined there.

    ``*Trainer`` stands for every name that ends so.
    """
    return any(_is_called(text, quoted, name) for name in names)


def _is_called(text: str, quoted: Quoted, name: str) -> bool:
    # Looked for one by one: plain words are found a hundred times as fast as one of several by an expression.
    word, is_whole = name.lstrip("*"), not name.startswith("*")
    place = text.find(word)
    while place >= 0:
        if (
            _CALLED.match(text, place + len(word))
            and not (is_whole and place and _WORD.match(text, place - 1))
            and place not in quoted
            and not _DEFINES.search(text, max(0, place - 60), place)
        ):
            return True
        place = text.find(word, place + len(word))
    return False


def scan_imports(text: str, quoted: Quoted) -> tuple[Import, ...] | None:
    """Return what the program imports, by line; None where only the tree can tell."""
    found: list[Import] = []
    blocks: _Blocks | None = None
    line, counted = 1, 0
    for word in _IMPORT.finditer(text):
        place = word.start()
        if place in quoted or text[place - 1 : place].isidentifier() or text[place - 1 : place].isdigit():
            continue
        start = text.rfind("\n", 0, place) + 1
        modules = _imported(text, start, place)
        if modules is None or text[max(0, start - 2) : start] == "\\\n":
            return None
        line += text.count("\n", counted, start)
        counted = start
        guard = ALWAYS
        if text[start] in " \t":
            blocks = blocks or _Blocks(text, quoted)
            guard = blocks.guard_at(start, _width(text, start))
            if guard == SOMETIMES and _RAISES_AGAIN.search(text, place, place + _RAISES_WITHIN):
                return None
        found.extend(Import(module, line, guard > ALWAYS, guard == IN_FUNCTION, names) for module, names in modules)
    return tuple(found)


class _Blocks:
    """The open blocks at a place, for places asked in rising order. A cursor over headers, private to the scan."""

    def __init__(self, text: str, quoted: Quoted) -> None:
        self._text, self._quoted = text, quoted
        self._headers = _HEADER.finditer(f"\n{text}")
        self._next = next(self._headers, None)
        self._open: list[tuple[int, str, int]] = []

    def guard_at(self, place: int, indent: int) -> int:
        """Return when what stands there, so far indented, runs."""
        while self._next is not None and self._next.start() < place:
            if self._next.start(2) - 1 not in self._quoted:
                self._enter(self._next)
            self._next = next(self._headers, None)
        self._close(indent)
        return self._open[-1][2] if self._open else ALWAYS

    def _close(self, indent: int) -> str:
        """Close the blocks that are not around this indent; return the kind of the last that begins at it."""
        partner = ""
        while self._open and self._open[-1][0] >= indent:
            width, kind, _ = self._open.pop()
            partner = kind if width == indent else partner
        return partner

    def _enter(self, header: re.Match[str]) -> None:
        indent, kind = len(header[1].expandtabs(8)), header[2]
        partner = self._close(indent)
        outer = self._open[-1][2] if self._open else ALWAYS
        start = header.start()  # of the line, for the text that is asked has one character less
        if kind == "async":
            kind = "def" if _ASYNC_DEF.match(self._text, header.end() - 1) else "with"
        if kind == "if" and _MAIN.match(self._text, start):
            kind = "main"
        # An `else` of a loop is no condition; that of `if` and `try` is.
        is_condition = partner in {"if", "elif", "try", "except", "main"} if kind == "else" else kind in _CONDITIONS
        own = SOMETIMES if is_condition else IN_FUNCTION if kind == "def" else ALWAYS
        self._open.append((indent, kind, max(outer, own)))


def _width(text: str, start: int) -> int:
    end = start
    while text[end] in " \t":
        end += 1
    return len(text[start:end].expandtabs(8))


def _imported(text: str, start: int, place: int) -> list[tuple[str, tuple[str, ...]]] | None:
    """Return the modules, and what is taken from each, of the statement on the line from ``start`` whose ``import`` is at ``place``; None: hard to tell."""
    lead = _FROM.fullmatch(text, start, place)
    if lead is None:
        plain = _PLAIN.match(text, place + 6) if not text[start:place].strip(" \t") else None
        items = [_MODULE.fullmatch(part.strip(" \t")) for part in plain[1].split(",")] if plain else []
        return [(item[1], ()) for item in items if item] if items and all(items) else None
    dots, module = len(lead[1]), lead[2]
    listed = _LISTED.match(text, place + 6)
    if listed is None or not (dots or module) or (module and not _MODULE.fullmatch(module)):
        return None
    names = re.sub(r"#[^\n]*", "", listed[1]).strip("() \t\n").rstrip(",").rstrip()
    words = [_NAME.fullmatch(part.strip()) for part in names.split(",")]
    if not all(words):
        return None
    inner = [word[1] for word in words if word]
    if not dots:
        return [(module, tuple(inner))]
    return [(name, ()) for name in relative_modules(dots, module, inner)]


def relative_modules(dots: int, module: str, names: Iterable[str]) -> list[str]:
    """Return what a relative import may mean: the module, and each name of it as a module of its own."""
    before = "." * dots
    inner = [f"{before}{module}.{name}" if module else f"{before}{name}" for name in names]
    return [f"{before}{module}", *inner] if module else inner
