"""Tables that documents write in HTML, row by row as those that Markdown draws with pipes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.formats.texts import unescaped
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_TABLES, MAX_ROWS, MAX_COLUMNS = 12, 40, 24
MAX_CHARACTERS = 30_000  # of one table
_ROW = regex(r"<tr\b[^<>]{0,300}>", re.IGNORECASE)
_CELL = regex(r"<t[hd]\b([^<>]{0,300})>", re.IGNORECASE)
_ENDS = regex(r"</t[hdr]\s?>", re.IGNORECASE)
_TAG = regex(r"<[^<>]{0,300}>")
_SPANS = regex(r"\b(col|row)span\s?=\s?[\"']?(\d{1,2})", re.IGNORECASE)


@record(frozen=True, slots=True)
class TableRow:
    """One row of a table: the head's cells, its own, its line (from 1), and the index of the table's first line, which names it."""

    header: list[str]
    cells: list[str]
    line: int
    begin: int


def html_rows(lines: Sequence[str]) -> Iterator[TableRow]:
    """Yield each row below the head of all tables in HTML; what spans several columns or rows stands in each of them."""
    if not any("<table" in line or "<TABLE" in line for line in lines):
        return
    text = "\n".join(lines)
    small, at = text.lower(), 0
    for _ in range(MAX_TABLES):
        begin = small.find("<table", at)
        end = small.find("</table", begin) if begin >= 0 else -1
        if end < 0:
            return
        at = end
        if end - begin <= MAX_CHARACTERS:
            yield from _rows(text[begin:end], text.count("\n", 0, begin))


def _rows(table: str, before: int) -> Iterator[TableRow]:
    starts = [found.end() for found in _ROW.finditer(table)][: MAX_ROWS + 2]
    ends = [*starts[1:], len(table)][: len(starts)]
    rows = [_cells(table[start:end]) for start, end in zip(starts, ends, strict=True)]
    spread, heads = _spread(rows)
    if len(spread) <= heads or not any(spread):
        return
    header = [" ".join(dict.fromkeys(part for part in column if part)) for column in zip(*spread[:heads], strict=True)]
    for start, cells in zip(starts[heads:], spread[heads:], strict=True):
        yield TableRow(header, cells, before + table.count("\n", 0, start) + 1, before)


def _cells(row: str) -> list[tuple[str, int, int]]:
    """Return text, columns and rows of each cell."""
    found = list(_CELL.finditer(row))
    ends = [*(cell.start() for cell in found[1:]), len(row)]
    cells = []
    for cell, end in zip(found[:MAX_COLUMNS], ends, strict=False):
        inner = _ENDS.split(row[cell.end() : end], maxsplit=1)[0]
        spans = {kind.lower(): max(1, int(count)) for kind, count in _SPANS.findall(cell[1])}
        said = " ".join(unescaped(_TAG.sub(" ", inner)).split())[:200]
        cells.append((said, min(spans.get("col", 1), MAX_COLUMNS), min(spans.get("row", 1), MAX_ROWS)))
    return cells


def _spread(rows: Sequence[Sequence[tuple[str, int, int]]]) -> tuple[list[list[str]], int]:
    """Return the rows with as many cells each, and how many of them are the head: as many as its first row's tallest cell."""
    pending: dict[int, tuple[int, str]] = {}
    spread: list[list[str]] = []
    for row in rows:
        cells, left = list[str](), list(row)
        while (left or len(cells) in pending) and len(cells) < MAX_COLUMNS:
            column = len(cells)
            if column in pending:
                count, said = pending.pop(column)
                if count > 1:
                    pending[column] = (count - 1, said)
                cells.append(said)
                continue
            said, columns, height = left.pop(0)
            for place in range(column, min(column + columns, MAX_COLUMNS)):
                cells.append(said)
                if height > 1:
                    pending[place] = (height - 1, said)
        spread.append(cells)
    width = max(map(len, spread), default=0)
    heads = max((height for _, _, height in rows[0]), default=1) if rows else 1
    return [cells + [""] * (width - len(cells)) for cells in spread], min(heads, 3)
