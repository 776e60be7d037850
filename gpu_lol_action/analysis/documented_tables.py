"""Tables of documentation that state GPU memory: a column of it, or cells of it under models' names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MEMORY_HEADER = re.compile(r"VRAM|GPU[- ]?(?:memory|mem\b|RAM)|\bmemory\b|peak mem|显存", re.IGNORECASE)
_OTHER_HEADER = re.compile(
    r"\bCPU\b|\bdisk\b|\bsize\b|download|speed|time|token|\bRAM\b(?<!GPU RAM)|sav(?:ed|ing)", re.IGNORECASE
)
_NO_AMOUNT = re.compile(r"\bCPU\b|bandwidth|\bG[Ii]?B/s", re.IGNORECASE)
_CELL = re.compile(r"^\W{0,6}(\d{1,3}(?:\.\d{1,2})?)\s?(?:GB|GiB|G)\b(?!/s)[^|]{0,24}$", re.IGNORECASE)
_NUMBER = re.compile(r"^\W{0,4}(\d{1,6}(?:\.\d{1,2})?)\W{0,3}$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
MAX_ROWS = 40


@dataclass(frozen=True, slots=True)
class TableFigure:
    """One cell that states memory: in GB, for what the row and column are named, on which line."""

    memory_gb: float
    label: str
    line: int


def table_figures(lines: Sequence[str], heading_of: Sequence[str]) -> Iterator[TableFigure]:
    """Yield memory figures of all pipe tables. ``heading_of`` is the heading over each line."""
    number = 0
    while number + 1 < len(lines):
        if "|" in lines[number] and _RULE.match(lines[number + 1][:400]):
            header = _cells(lines[number])
            body = number + 2
            while body < len(lines) and "|" in lines[body] and body - number < MAX_ROWS:
                yield from _row(header, _cells(lines[body]), body + 1, heading_of[number])
                body += 1
            number = body
        else:
            number += 1


def _cells(line: str) -> list[str]:
    return [
        re.sub(r"[*_`~]|<[^>]{0,80}>", " ", cell).replace("\\", "").strip()
        for cell in line[:2000].strip().strip("|").split("|")
    ]


def _row(header: list[str], cells: list[str], line: int, heading: str) -> Iterator[TableFigure]:
    """Yield the row's figures: of columns that say memory, or of every column where only the heading says it."""
    says = [bool(_MEMORY_HEADER.search(name)) and not _NO_AMOUNT.search(name) for name in header]
    whole = not any(says) and bool(
        _MEMORY_HEADER.search(heading) or re.search(r"hardware|requirement", heading, re.IGNORECASE)
    )
    named = " ".join(cell for cell in cells if cell and not _CELL.match(cell))[:80]
    for index, cell in enumerate(cells[: len(header)]):
        column = header[index]
        if not (says[index] or (whole and not _OTHER_HEADER.search(column))):
            continue
        size = _size(cell, column)
        if size is not None and 1 <= size <= 2000:
            label = named if says[index] else f"{named} {column}"
            yield TableFigure(size, " ".join(label.split()), line)


def _size(cell: str, column: str) -> float | None:
    """Return GB; a bare number counts where the column's head names the unit."""
    stated = _CELL.match(cell)
    if stated is not None:
        return float(stated[1])
    bare = _NUMBER.match(cell)
    if bare is None:
        return None
    if re.search(r"\bMi?B\b", column):
        return float(bare[1]) / 1024
    return float(bare[1]) if re.search(r"\bGi?B\b|\(G\)", column) else None
