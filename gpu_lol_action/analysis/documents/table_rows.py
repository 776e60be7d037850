"""The rows of a document's tables, in Markdown, reStructuredText and HTML, each beside the head of its table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.formats.html_tables import html_rows
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_RULE = regex(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$|^\s*\+(?:={3,}\+)+\s*$")
_GRID = regex(r"\s*\+(?:-{3,}\+)+\s*$")  # between the rows of reStructuredText's tables
MAX_ROWS = 40
MAX_CHARACTERS = 2000


@record(frozen=True, slots=True)
class TableRow:
    """A row: the head's cells, its own, its line (from 1), and the index of the head's line, which names the table."""

    header: list[str]
    cells: list[str]
    line: int
    begin: int


def table_rows(lines: Sequence[str]) -> Iterator[TableRow]:
    """Yield each row of all tables, those in HTML last."""
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
    for row in html_rows(lines):
        yield TableRow(list(row.header), list(row.cells), row.line, row.begin)


def _cells(line: str) -> list[str]:
    return [
        regex(r"[*_`~]|<[^>]{0,80}>").sub(" ", cell).replace("\\", "").strip()
        for cell in line[:MAX_CHARACTERS].strip().strip("|").split("|")
    ]
