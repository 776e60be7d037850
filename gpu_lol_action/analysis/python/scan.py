"""What a Python program says to a look at its text: its imports, its main guard, which names stand in its code.

A syntax tree costs a hundred times what a regular expression does. Most programs of a large checkout are asked only
what they import, or whether they call one of a few functions; these questions are answered here without a tree, and
exactly: what a text alone cannot tell is answered by ``None``, and the tree decides.
"""

from __future__ import annotations

import bisect
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.python.import_statements import imported
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# A string or a comment: first come, first served, as Python's own tokenizer reads them. No part of it can fail once it
# has begun, so that it never goes back: the end may be missing. Comments on lines that follow each other are one.
_STRING = regex(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:""")?'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:''')?"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
    r"|#[^\n]*(?:\n[ \t]*#[^\n]*)*",
    re.DOTALL,
)
# The leading line feed lets the expression engine leap from line to line.
_HEADER = regex(r"\n([ \t]*)(try|except|finally|else|elif|if|def|async|class|with|for|while|match|case)\b")
_IMPORT = regex(r"import(?!\w)")
_ASYNC_DEF = regex(r"[ \t]+def\b")
_MAIN = regex(r"[ \t]*if\b[ \t]*\(?[ \t]*__name__[ \t]*==[ \t]*(?:\"\w*\"|'\w*')[ \t]*\)?[ \t]*:")
_OWNED = regex(r"(?:\w|\.[ \t]*)\Z")
_IF = regex(r"\bif\b")
_DEFINES = regex(r"(?:^|\s)(?:def|class)[ \t]+\w*\Z")
# What stands behind a name that is called: its arguments, or an index before them; a comment may hide both.
_CALLED = regex(r"(?!\w)[\s\\)]*(?:[(\[#]|\Z)")
_WORD = regex(r"\w")
MANY_NAMES = 8
"""Names from which on one look at all that is called costs less than one at the whole text for each."""
# What may stand between a name and its bracket: all that `_CALLED` passes over.
_BETWEEN = "\\)\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_TRIED = frozenset({"try", "except", "finally"})
_CONDITIONS = frozenset({"elif", "if"})
# Contexts in which a module may be missing: `with suppress(ImportError):`, `with try_import() as found:`.
_FORGIVES = regex(
    r"[ \t]*with[ \t]+(?:\w{1,40}\.){0,4}(?:suppress\([^()]{0,200}\b(?:Import|ModuleNotFound)Error|(?:\w{0,20}_)?(?:try|optional|lazy)_(?:\w{1,20}_)?imports?\()"
)
_LINE = regex(r"\n(?=[ \t]*[^\s#])")
_PARTNER = regex(r"[ \t]*(?:except|else|finally)\b")
# What ends a program stands somewhere in a `try` statement: whether in its handlers, its tree tells.
_ENDS = regex(r"\b(?:raise|_?exit|quit)\b")


@record(frozen=True, slots=True)
class Import:
    """A module that is imported; ``is_optional`` inside ``try``, a function, or ``if``; ``is_lazy`` in a function and nothing else.

    So is one below ``with suppress(ImportError)`` and its like.

    A ``try`` whose handlers only raise again ("please install x") guards nothing. ``names`` are what is taken from it:
    where it is a folder, they may be modules too.
    """

    module: str
    line: int
    is_optional: bool
    is_lazy: bool = False
    names: tuple[str, ...] = ()


_AHEAD = 2000
"""Characters beyond a place that are looked through with it, for the next place is mostly near."""

# When a statement runs: always, when its function is called, only sometimes.
ALWAYS, IN_FUNCTION, SOMETIMES = 0, 1, 2


BlockReader = Callable[[str, int], "Sequence[Import] | None"]


class Quoted:
    """Where the strings and comments of a program lie, found as far as places are asked for.

    ``edges`` are begins and ends in turn, so that a place is found by halving; a caller keeps them, not the text. Most
    programs are asked about their first lines, so that the rest need not be looked through.
    """

    __slots__ = ("_text", "edges", "reach")

    def __init__(self, text: str, edges: array[int], reach: int = 0) -> None:
        self._text, self.edges, self.reach = text, edges, reach

    def __contains__(self, place: int) -> bool:
        edges = self.edges
        if place >= self.reach:
            self.reach = len(self._text)
            for found in _STRING.finditer(self._text, edges[-1] if edges else 0):
                edges.extend(found.span())
                if found.end() > place + _AHEAD:
                    self.reach = found.end()
                    break
        return bool(bisect.bisect_right(edges, place) % 2)

    def begin_of(self, place: int) -> int | None:
        """Return where the string or comment begins that a place lies in; None outside of them."""
        return self.edges[bisect.bisect_right(self.edges, place) - 1] if place in self else None

    def end_of(self, place: int) -> int | None:
        """Return where the string or comment ends that a place lies in; None outside of them."""
        return self.edges[bisect.bisect_right(self.edges, place)] if place in self else None


def scan_main(text: str, quoted: Quoted) -> bool | None:
    """Return whether the program has a main guard; None where only the tree can tell."""
    is_open = False
    for found in regex("__name__").finditer(text):
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
    wanted = tuple(names)
    if len(wanted) > MANY_NAMES:
        before = _before_brackets(text)
        wanted = tuple(name for name in wanted if f"{name.lstrip('*')}\n" in before)
    return any(_is_called(text, quoted, name) for name in wanted)


def _before_brackets(text: str) -> str:
    """Return what stands right before brackets and remarks, and at the end, each on a line: a name that is called ends one of them."""
    pieces = text.replace("[", "(").replace("#", "(").split("(")
    return "\n".join({piece.rstrip(_BETWEEN).rpartition(" ")[2] for piece in pieces}) + "\n"


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


def scan_imports(text: str, quoted: Quoted, read_block: BlockReader) -> tuple[Import, ...] | None:
    """Return what the program imports, by line; None where only the tree can tell.

    ``read_block`` reads one ``try`` statement: whether it guards what it imports, its handlers tell.
    """
    found: list[Import] = []
    blocks: _Blocks | None = None
    line, counted, done = 1, 0, 0
    for word in _IMPORT.finditer(text):
        place = word.start()
        start = text.rfind("\n", 0, place) + 1
        if place < done or not _may_import(text, start, place) or place in quoted:
            continue
        modules = imported(text, start, place)
        if modules is None or text[max(0, start - 2) : start] == "\\\n":
            return None
        line += text.count("\n", counted, start)
        counted = start
        guard = ALWAYS
        if text[start] in " \t":
            blocks = blocks or _Blocks(text, quoted)
            block = blocks.around(start, _width(text, start))
            guard = block.guard
            if block.tried is not None:
                begin, outer = block.tried
                end = _end_of_try(text, quoted, begin)
                if end <= place:
                    return None
                if _ENDS.search(text, place, end):
                    done = end
                    inner = read_block(text[begin:end], outer)
                    if inner is None:
                        return None
                    first = line - text.count("\n", begin, start) - 1
                    found = [item for item in found if item.line <= first]
                    found.extend(replace(item, line=item.line + first) for item in inner)
                    continue
        found.extend(Import(module, line, guard > ALWAYS, guard == IN_FUNCTION, names) for module, names in modules)
    return tuple(found)


def _may_import(text: str, start: int, place: int) -> bool:
    """Whether ``import`` at that place of the line may be a statement's: prose, a prompt's example and longer names are not."""
    before = text[place - 1 : place]
    if before.isidentifier() or before.isdigit():
        return False
    lead = text[start:place].lstrip(" \t")
    return not lead or lead.startswith("from") or ":" in lead or ";" in lead


def _end_of_try(text: str, quoted: Quoted, begin: int) -> int:
    """Return where the ``try`` statement on the line from ``begin`` ends: at the next line that is no deeper and not its own."""
    width = _width(text, begin)
    for line in _LINE.finditer(text, begin + 1):
        if _width(text, line.end()) > width or line.end() in quoted:
            continue
        if _width(text, line.end()) < width or not _PARTNER.match(text, line.end()):
            return line.end()
    return len(text)


@record(frozen=True, slots=True)
class _Block:
    """An open block: its indent and kind, and when what is in it runs.

    ``tried`` is set where only ``try`` statements make that "sometimes": where the outermost begins, and when it runs itself.
    """

    indent: int
    kind: str
    guard: int
    begin: int
    tried: tuple[int, int] | None


_OUTSIDE = _Block(-1, "", ALWAYS, 0, None)


class _Blocks:
    """The open blocks at a place, for places asked in rising order. A cursor over headers, private to the scan."""

    def __init__(self, text: str, quoted: Quoted) -> None:
        self._text, self._quoted = text, quoted
        self._headers = _HEADER.finditer(f"\n{text}")
        self._next = next(self._headers, None)
        self._open: list[_Block] = []

    def around(self, place: int, indent: int) -> _Block:
        """Return the innermost block of what stands there, so far indented."""
        while self._next is not None and self._next.start() < place:
            if self._next.start(2) - 1 not in self._quoted:
                self._enter(self._next)
            self._next = next(self._headers, None)
        self._close(indent)
        return self._open[-1] if self._open else _OUTSIDE

    def _close(self, indent: int) -> _Block:
        """Close the blocks that are not around this indent; return the last that begins at it."""
        partner = _OUTSIDE
        while self._open and self._open[-1].indent >= indent:
            last = self._open.pop()
            partner = last if last.indent == indent else partner
        return partner

    def _enter(self, header: re.Match[str]) -> None:
        indent, kind = len(header[1].expandtabs(8)), header[2]
        partner = self._close(indent)
        outer = self._open[-1] if self._open else _OUTSIDE
        start = header.start()  # of the line, for the text that is asked has one character less
        if kind == "async":
            kind = "def" if _ASYNC_DEF.match(self._text, header.end() - 1) else "with"
        if kind == "if" and _MAIN.match(self._text, start):
            kind = "main"
        # An `else` of a loop is no condition; that of `if` and `try` is.
        is_tried = kind in _TRIED or (kind == "else" and partner.kind in _TRIED)
        is_condition = is_tried or kind in _CONDITIONS or (kind == "else" and partner.kind in {"if", "elif", "main"})
        is_condition = is_condition or (kind == "with" and forgives(self._text, start))
        own = SOMETIMES if is_condition else IN_FUNCTION if kind == "def" else ALWAYS
        begin = partner.begin if is_tried and kind != "try" else start
        tried = outer.tried
        if is_condition and outer.guard != SOMETIMES:
            tried = (begin, outer.guard) if is_tried else None
        elif is_condition and not is_tried:
            tried = None
        self._open.append(_Block(indent, kind, max(outer.guard, own), begin, tried))


def forgives(text: str, start: int) -> bool:
    """Whether the line from ``start`` opens a context in which a module may be missing."""
    return _FORGIVES.match(text, start) is not None


def _width(text: str, start: int) -> int:
    end = start
    while text[end] in " \t":
        end += 1
    return len(text[start:end].expandtabs(8))
