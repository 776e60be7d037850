"""Tables whose rows are the parts of a machine: a graphics card, main memory, a disk. What stands beside the card is said of it alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.documents.table_rows import table_rows
from gpu_lol_action.analysis.formats.html_tables import TableRow
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_GPU = regex(
    r"(?:(?:NVIDIA|CUDA|discrete|dedicated)\s)?(?:GPUs?|graphics?(?:\scards?)?|video\scards?|accelerators?|显卡|顯示卡|グラフィックボード|видеокарта)"
    r"(?:\s(?:cards?|models?|hardware|requirements?))?(?:\s?\([^()]{1,30}\))?",
    re.IGNORECASE,
)
_MEMORY = regex(
    r"(?:(?:NVIDIA|min\w*|required|recommended|dedicated)\s)?(?:(?:GPU\s)?VRAM|GPU[- ](?:memory|RAM|mem)|(?:video|graphics?)\s(?:memory|RAM)|显存|GPUメモリ)"
    r"(?:\s(?:size|requirements?|usage))?(?:\s?\([^()]{1,30}\))?",
    re.IGNORECASE,
)
_OTHER_PART = regex(
    r"(?:system\s|main\s|host\s|CPU\s|free\s|local\s)?(?:RAM|memory|CPUs?|processors?|cores|disk(?:\sspace)?|storage(?:\sspace)?|SSD|hard\s(?:disk|drive)|OS|operating\ssystem|platform"
    r"|Python(?:\sversion)?|CUDA(?:\s(?:version|toolkit))?|drivers?|network|内存|記憶體|硬盘|磁盘|存储|处理器|操作系统|系统|メモリ|ストレージ|память|диск|процессор)"
    r"(?:\s?\([^()]{1,30}\))?",
    re.IGNORECASE,
)
_ASKS = regex(
    r"\b(?:min\w*|recommend\w*|requir\w*|optimal|suggested|preferred|needed)\b|最低|推荐|建议|必要|推奨|최소|권장|миним\w*|рекоменд\w*",
    re.IGNORECASE,
)
LEAST_SENTENCE = 16  # characters


@record(frozen=True, slots=True)
class PartCell:
    """What a cell says, of the card as an item of a list (``- GPU: 2x RTX 3090``): under which head, on which line."""

    item: str
    heading: str
    line: int


def tables_of_parts(lines: Sequence[str]) -> frozenset[int]:
    """Return the tables (by the index of the head's line) that have a row for the card, or for a disk or main memory, among others of a machine."""
    named: dict[int, list[str]] = {}
    for row in table_rows(lines):
        named.setdefault(row.begin, [*row.header[:1]]).append(row.cells[0] if row.cells else "")
    return frozenset(begin for begin, names in named.items() if _are_parts(names))


def _are_parts(names: Sequence[str]) -> bool:
    others = sum(_OTHER_PART.fullmatch(name) is not None for name in names)
    return others >= (1 if any(map(_name_of, names)) else 2)


def said_of_cards(lines: Sequence[str], headings: Sequence[str]) -> Iterator[PartCell]:
    """Yield what tables of parts say of the card, column by column; ``headings`` is the heading over each line."""
    tables = tables_of_parts(lines)
    for row in table_rows(lines):
        name = _name_of(row.cells[0]) if row.begin in tables and row.cells else ""
        if name:
            yield from _columns(name, row, headings[row.begin])


def _name_of(cell: str) -> str:
    """Return which part of a card a row is called by: itself or its memory; empty for other parts of a machine."""
    if _MEMORY.fullmatch(cell):
        return "VRAM"
    return "GPU" if _GPU.fullmatch(cell) else ""


def told_in_cells(lines: Sequence[str], headings: Sequence[str]) -> Iterator[PartCell]:
    """Yield the sentences that stand in tables of a name and what is said of it: "Training run | 72 hours on a single H100"."""
    tables = tables_of_parts(lines)
    for row in table_rows(lines):
        if row.begin not in tables and len(row.header) in {2, 3} and not any(map(_GPU.fullmatch, row.header)):
            for cell in row.cells[1:]:
                if len(cell) >= LEAST_SENTENCE:
                    yield PartCell(cell, f"{headings[row.begin]} {row.cells[0]}", row.line)


def _columns(name: str, row: TableRow, heading: str) -> Iterator[PartCell]:
    for column, cell in zip(row.header[1:], row.cells[1:], strict=False):
        asked = _ASKS.search(column) or _ASKS.search(heading)
        above = f"{column} requirements" if asked else f"{heading} {column}"
        yield PartCell(f"- {name}: {cell}", above, row.line)
