"""One import statement of a program, read from its text: which modules it names, and what it takes from each."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from gpu_lol_action.domain.patterns import regex

MAX_LINE = 200
"""Characters of a line that is remembered: longer ones are rare, and a generated one may hold a thousand statements."""

Modules = tuple[tuple[str, tuple[str, ...]], ...]
"""What a statement names: each module, with the names that are taken from it."""

_FROM = regex(r"[ \t]*from[ \t]*(\.*)[ \t]*([\w.]*)[ \t]*")
_PLAIN = regex(r"[ \t]+([^\n#]+)")
_LISTED = regex(r"[ \t]*(\([^()]*\)|[^\n#(]+)")
_MODULE = regex(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:[ \t]+as[ \t]+\w+)?")
_NAME = regex(r"([A-Za-z_]\w*|\*)(?:\s+as\s+\w+)?")


def imported(text: str, start: int, place: int) -> Modules | None:
    """Return the modules, and what is taken from each, of the statement on the line from ``start`` whose ``import`` is at ``place``; None: hard to tell."""
    end = text.find("\n", place, start + MAX_LINE)
    line = text[start:end] if end >= 0 else ""
    if not line or "(" in line:  # in parentheses it may go on below
        return _read_import(text, start, place)
    return _read_line(line, place - start)


@functools.lru_cache(maxsize=4096)
def _read_line(line: str, place: int) -> Modules | None:
    """Read a statement of one line: the programs of a checkout import much alike."""
    return _read_import(line, 0, place)


def _read_import(text: str, start: int, place: int) -> Modules | None:
    lead = _FROM.fullmatch(text, start, place)
    if lead is None:
        plain = _PLAIN.match(text, place + 6) if not text[start:place].strip(" \t") else None
        items = [_MODULE.fullmatch(part.strip(" \t")) for part in plain[1].split(",")] if plain else []
        return tuple((item[1], ()) for item in items if item) if items and all(items) else None
    dots, module = len(lead[1]), lead[2]
    listed = _LISTED.match(text, place + 6)
    if listed is None or not (dots or module) or (module and not _MODULE.fullmatch(module)):
        return None
    names = regex(r"#[^\n]*").sub("", listed[1]).strip("() \t\n").rstrip(",").rstrip()
    words = [_NAME.fullmatch(part.strip()) for part in names.split(",")]
    if not all(words):
        return None
    inner = [word[1] for word in words if word]
    if not dots:
        return ((module, tuple(inner)),)
    return tuple((name, ()) for name in relative_modules(dots, module, inner))


def relative_modules(dots: int, module: str, names: Iterable[str]) -> list[str]:
    """Return what a relative import may mean: the module, and each name of it as a module of its own."""
    before = "." * dots
    inner = [f"{before}{module}.{name}" if module else f"{before}{name}" for name in names]
    return [f"{before}{module}", *inner] if module else inner
