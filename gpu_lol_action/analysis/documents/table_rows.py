"""The rows of a document's tables, in Markdown, reStructuredText and HTML, each beside the head of its table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.formats.html_tables import TableRow, html_rows
from gpu_lol_action.domain.patterns import regex

_RULE = regex(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$|^\s*\+(?:={3,}\+)+\s*$")
_GRID = regex(r"\s*\+(?:-{3,}\+)+\s*$")  # between the rows of reStructuredText's tables
MAX_ROWS = 40
MAX_CHARACTERS = 2000


def table_rows(lines: Sequence[str]) -> tuple[TableRow, ...]:
    """Return each row of all tables, those in HTML last."""
    return _rows(tuple(lines))


@functools.lru_cache(
    maxsize=4
)  # figures, cards, counts and parts are looked for in the same document one after another
def _rows(lines: tuple[str, ...]) -> tuple[TableRow, ...]:
    return (*_drawn(lines), *html_rows(lines))


def _drawn(lines: Sequence[str]) -> Iterator[TableRow]:
    """Yield the rows of tables that are drawn with pipes."""
    number = 0
    while number + 1 < len(lines):
        if "|" in lines[number] and _RULE.match(lines[number + 1][:400]):
            header = _cells(lines[number])
            body = number + 2
            while body < len(lines) and body - number < MAX_ROWS and ("|" in lines[body] or _GRID.match(lines[body])):
                if "|" in lines[body]:
                    yield TableRow(header, _cells(lines[body]), body + 1, number)
                body += 1
            number = body
        else:
            number += 1


def _cells(line: str) -> list[str]:
    return [
        regex(r"[*_`~]|<[^>]{0,80}>").sub(" ", cell).replace("\\", "").strip()
        for cell in line[:MAX_CHARACTERS].strip().strip("|").split("|")
    ]
