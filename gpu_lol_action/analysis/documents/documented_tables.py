"""Tables of documentation that state hardware: a column of GPU memory, or cells of it under models' names; a column of cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.documents.component_tables import tables_of_parts
from gpu_lol_action.analysis.documents.documented_phrases import CardPhrase, card_phrases, purpose
from gpu_lol_action.analysis.documents.table_rows import table_rows
from gpu_lol_action.analysis.formats.html_tables import TableRow
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_MEMORY_HEADER = regex(
    r"VRAM|GPU[- ]?(?:memory|mem\b|RAM)|\bmem(?:ory|roy|eory|mory)\b|peak mem|\bmem\.?\s?\([GM]|显存", re.IGNORECASE
)
_OTHER_HEADER = regex(
    r"\bCPU\b|\bdisk\b|\bsize\b|download|speed|time|token|\bRAM\b(?<!GPU RAM)|sav(?:ed|ing)|\bKV\b|\bG?(?:FLOP|MAC)s?\b|param|activations\b",
    re.IGNORECASE,
)
_USED_HEADER = regex(r"\bpeak\b|\busage\b", re.IGNORECASE)
_NO_AMOUNT = regex(r"\bCPU\b|bandwidth|\bG[Ii]?B/s", re.IGNORECASE)
_CELL = regex(
    r"^\W{0,6}(?:\d{1,2}\s?[x×*]\s?)?(\d{1,3}(?:\.\d{1,2})?)\s?(?:GBs?|GiB|G)\b(?!/s)[^|]{0,40}$", re.IGNORECASE
)
_SMALL_CELL = regex(r"^\W{0,6}(\d{4,6})\s?Mi?B\b(?!/s)[^|]{0,24}$", re.IGNORECASE)
_RANGE = regex(r"^\W{0,6}(\d{1,3})\s?(?:-|–|~|to)\s?(\d{1,3})\s?(?:GB|GiB|G)\b(?!/s)", re.IGNORECASE)
_NUMBER = regex(r"^\W{0,4}(\d{1,6}(?:\.\d{1,2})?)\W{0,3}(?:\([A-Za-z ]{1,20}\))?$")
_ON, _OFF = regex(r"(?i:true|yes|on)|[✓✔✅☑]\ufe0f?"), regex(r"(?i:false|no|off)|[✗✘❌✖]\ufe0f?")
# What a model can be put to, which says nothing of what the figures beside it are of.
_OFFERED = regex(
    r"(?:supports?\s)?(?:(?:pre-?)?train(?:ing|able)?|fine-?tun(?:ing|e|able)|inference)(?:\s(?:support(?:ed)?|code|scripts?|available))?",
    re.IGNORECASE,
)
_COUNTS_HEADER = regex(
    r"(?:#|№|n|no\.?|num(?:ber)?)?\s?(?:of\s+)?(?:GPUs|(?<=[#fm.]\s)GPU|(?<=#)GPU|GPU\s+(?:count|number|num))",
    re.IGNORECASE,
)
_CARDS_HEADER = regex(
    r"(?:(?:pre-?)?train(?:ing|ed)?\s+|fine-?tun(?:e|ing)\s+|inference\s+|recommended\s+)?"
    r"(?:(?:num(?:ber)?\s+of\s+)?GPUs?(?:\s+(?:type|model|name|config(?:uration)?)s?)?(?:\s*(?:and|&|/|×|x)\s*(?:count|number|quantity))?|hardware|accelerators?|graphics cards?)",
    re.IGNORECASE,
)
# "Train H100 hours": on which cards what the rows name was trained.
_HOURS_HEADER = regex(r"(?:pre-?)?train(?:ing)?\s[^|]{2,30}[\s-](?:hours|days|hrs)", re.IGNORECASE)
# A table of how fast something is names cards on which it was measured, not those that it needs.
_SPEED_HEADER = regex(
    r"throughput|FPS\b|latency|speed|(?:images?|imgs?|tokens?|samples?|frames?|it)\s?/\s?s", re.IGNORECASE
)
# How long an epoch took is told of a training, which was done on these cards.
_EPOCH_HEADER = regex(r"\bepochs?\b|\btime[- ]to[- ]train|\btrain(?:ing)?[- ]time", re.IGNORECASE)
# Frames per second beside memory are of a network that runs, unless the table tells of its training, too (a schedule, epochs).
_RUN_HEADER = regex(r"\bFPS\b|frames?\s?/\s?s|\blatency\b|\binf(?:erence)?\.?\s(?:time|speed)", re.IGNORECASE)
_TRAINED_HEADER = regex(r"\btrain|\bschd|\bsched|\bepoch|\biter|\bLR\b", re.IGNORECASE)
# Beside the number of processors, or under the name of a cloud's machine, "memory" is the machine's.
_OF_MACHINES = regex(r"\bv?CPUs?\b|\bcores\b|instance", re.IGNORECASE)
# What cards a compiler builds for, or what they cost by the hour: no run was on them.
_ARCHITECTURE = regex(r"(?:sm|compute)[ _]?\d{2,3}[a-z]?", re.IGNORECASE)
_BY_THE_HOUR = regex(r"[$€£]\s?\d{1,3}(?:\.\d{1,4})?\s?(?:/|per\s)\s?(?:h|hr|hour)\b", re.IGNORECASE)
_PRICES = regex(r"(?:price|cost|\$|rate)s?\b[^|]{0,16}(?:/|\bper\s)\s?(?:GPU[- ]?)?(?:h|hr|hour)\b|\bhourly\b|\$/(?:h|hr|hour)\b", re.IGNORECASE)  # fmt: skip
_UNIT = regex(r"[(\[]\s?(?:in\s)?([MG]i?B)\b[^()\[\]]{0,20}[)\]]|\bin\s([MG]i?B)\b", re.IGNORECASE)
MAX_NAME = 60
MOST_CARDS, MAX_DIGITS = 64, 5


@record(frozen=True, slots=True)
class TableFigure:
    """One cell that states memory: in GB, for what row and column are named, on which line; ``name``: the row's first cell, ``table``: the head's index."""

    memory_gb: float
    label: str
    line: int
    name: str = ""
    table: int = 0


@record(frozen=True, slots=True)
class TableCard:
    """One cell that names a card: under which head, in which row, on which line; ``is_measured``: the table tells speeds."""

    phrase: CardPhrase
    column: str
    line: int
    is_measured: bool


def table_figures(lines: Sequence[str], heading_of: Sequence[str]) -> Iterator[TableFigure]:
    """Yield memory figures of all tables. ``heading_of`` is the heading over each line."""
    parts = tables_of_parts(lines)
    for row in table_rows(lines):
        header, cells, line, begin = row.header, row.cells, row.line, row.begin
        if begin in parts or _lists_cards(row):  # what it says of the card is read by ``component_tables``
            continue
        caption, unit = _caption(lines, begin)
        # "GPU memory (MB per GPU)" above numbers that name none
        named = [*header[:1], *(f"{name} ({unit})" for name in header[1:])] if unit else header
        figures = list(_row(named, cells, line, caption or heading_of[begin]))
        yield from (replace(each, table=begin) for each in figures or _sideways(named, cells, line))


def table_cards(lines: Sequence[str]) -> Iterator[TableCard]:
    """Yield the cards that stand in columns of GPUs or hardware (``1xV100 16GB``) of all pipe tables."""
    counts = _counts(lines)
    seen: set[int] = set()
    parts = tables_of_parts(lines)
    for row in table_rows(lines):
        header, cells, line, begin = row.header, row.cells, row.line, row.begin
        if begin in parts or _lists_cards(row):
            continue
        spent = [name for name in header if begin not in seen and _HOURS_HEADER.fullmatch(name)]
        seen.add(begin)
        for phrase in (phrase for name in spent for phrase in card_phrases(name)):
            yield TableCard(replace(phrase, count=None, is_sized=True), "training", line, is_measured=False)
        is_measured = any(map(_SPEED_HEADER.search, header)) and not any(map(_EPOCH_HEADER.search, header))
        pairs = [(name, cell) for name, cell in zip(header, cells, strict=False) if _CARDS_HEADER.fullmatch(name)]
        if not pairs and len(cells) > 1 and _CARDS_HEADER.fullmatch(cells[0]):  # a table of names and what they are
            pairs = [(cells[0], cells[1])]
        for column, cell in pairs:
            for phrase in card_phrases(cell) if cell else ():
                number = phrase.count or counts.get(begin)
                yield TableCard(replace(phrase, count=number), column, line, is_measured)


def _lists_cards(row: TableRow) -> bool:
    """Whether a row is of a list of cards by their architecture, or by what they cost."""
    cells = row.cells
    return any(map(_ARCHITECTURE.fullmatch, cells)) or any(map(_BY_THE_HOUR.search, cells)) or any(map(_PRICES.search, row.header))  # fmt: skip


def table_counts(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the number of GPUs that all columns of them say, with the line of the first row; nothing where rows differ."""
    counts = _counts(lines)
    if len(set(counts.values())) == 1 and None not in counts.values():
        yield from ((count, begin + 3) for begin, count in list(counts.items())[:1] if count is not None)


def _counts(lines: Sequence[str]) -> dict[int, int | None]:
    """Return the number of GPUs that all rows of a table say in a column for it, by the index of the table's head; None where they differ."""
    said: dict[int, set[str]] = {}
    for row in table_rows(lines):
        for column, cell in zip(row.header, row.cells, strict=False):
            if _COUNTS_HEADER.fullmatch(column):
                said.setdefault(row.begin, set()).add(cell)
    return {begin: _count(cells) for begin, cells in said.items()}


def _count(cells: set[str]) -> int | None:
    cell = next(iter(cells))
    is_one = len(cells) == 1 and cell.isdecimal() and len(cell) < MAX_DIGITS
    return int(cell) if is_one and 1 <= int(cell) <= MOST_CARDS else None


def _row(header: list[str], cells: list[str], line: int, heading: str) -> Iterator[TableFigure]:
    """Yield the row's figures: of columns that say memory, or of every column where only the heading says it."""
    of_machines = any(_OF_MACHINES.search(name) for name in header)
    says = [_says_memory(name, of_machines=of_machines) for name in header]
    whole = not any(says) and bool(
        _MEMORY_HEADER.search(heading) or regex(r"hardware|requirement", re.IGNORECASE).search(heading)
    )
    # The first head may be the table's name: what is in its columns is said by all heads behind it.
    is_titled = says[:1] == [True] and not any(says[1:]) and _size(cells[0], header[0]) is None
    whole = whole or is_titled
    named = " ".join(said for said in map(_said, header, cells) if said)[:80]
    is_run = any(map(_RUN_HEADER.search, header)) and not any(map(_TRAINED_HEADER.search, header))
    for index, cell in enumerate(cells[: len(header)]):
        column = header[index]
        if (is_titled and not index) or not (
            says[index] or (whole and (_USED_HEADER.search(column) or not _OTHER_HEADER.search(column)))
        ):
            continue
        size = _size(cell, column)
        if size is not None and 1 <= size <= 2000:
            # One of several columns, or one for a use, says what its figure is of: "Training VRAM", "VRAM (fp16)".
            is_one_of_many = not says[index] or sum(says) > 1 or purpose(column)
            label = f"{named} {column}" if is_one_of_many else named
            label = f"{label} (inference)" if is_run else label
            yield TableFigure(size, " ".join(label.split()), line, cells[0])


def _said(head: str, cell: str) -> str:
    """Return what a cell says of its row: its text, of a switch that is on ("✓" under "LoRA") the head, of one that is off nothing."""
    if _ON.fullmatch(cell):
        return "" if _OFFERED.fullmatch(head) else head
    return "" if _OFF.fullmatch(cell) or _CELL.match(cell) else cell


def _caption(lines: Sequence[str], begin: int) -> tuple[str, str]:
    """Return the line right above a table where it names memory and its unit, and the unit; two empty texts otherwise."""
    above = [line for line in lines[max(0, begin - 2) : begin] if line.strip()]
    said = above[-1][:300] if above and "|" not in above[-1] else ""
    unit = _UNIT.search(said)
    is_memory = unit is not None and _MEMORY_HEADER.search(said[: unit.start() + 1]) and not _NO_AMOUNT.search(said)
    return (said, unit[1] or unit[2]) if unit is not None and is_memory else ("", "")


def _sideways(header: list[str], cells: list[str], line: int) -> Iterator[TableFigure]:
    """Yield the figures of a row that itself is called memory, one for what each column is named (models, settings)."""
    name = cells[0] if cells else ""
    if not _says_memory(name, of_machines=False) or _OTHER_HEADER.search(name) or len(name) > MAX_NAME:
        return
    for column, cell in zip(header[1:], cells[1:], strict=False):
        size = _size(cell, name)
        if size is not None and 1 <= size <= 2000:
            yield TableFigure(size, " ".join(f"{column} {name} {cell}".split()), line, column)


def _says_memory(head: str, *, of_machines: bool) -> bool:
    found = _MEMORY_HEADER.search(head)
    if found is None or _NO_AMOUNT.search(head):
        return False
    return not of_machines or found[0].lower() != "memory"


def _size(cell: str, column: str) -> float | None:
    """Return GB; a bare number counts where the column's head names the unit."""
    stated = _CELL.match(cell)
    if stated is not None:
        return float(stated[1])
    small, span = _SMALL_CELL.match(cell), _RANGE.match(cell)
    if small is not None:
        return round(float(small[1]) / 1024, 2)
    if span is not None and int(span[1]) < int(span[2]):
        return float(span[2])  # who asks for a range has settings that need its upper end
    bare = _NUMBER.match(cell)
    if bare is None:
        return None
    if regex(r"\bMi?B\b").search(column):
        return round(float(bare[1]) / 1024, 2)
    return float(bare[1]) if regex(r"\bGi?B\b|\(G\)").search(column) else None
