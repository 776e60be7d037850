"""Text on a terminal: how wide it is, what it can show, and columns that fit it.

Everything is laid out as plain text first and painted last, so that a color never counts as a column.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from gpu_lol_action.domain.records import record
from gpu_lol_action.render.formats import bar

DEFAULT_WIDTH = 100
NARROWEST = 60
WIDEST = 120

_STYLES = {"bold": "1", "dim": "2", "good": "32", "warn": "33", "bad": "31", "bar": "36"}
# Where a terminal shows no more than ASCII; each stands for as many columns as it takes.
_ASCII = str.maketrans({
    "×": "x", "–": "-", "\u2212": "-", "…": "~", "·": "-", "→": ">", "▸": ">", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#",
    "▍": "|", "▎": "|", "▏": "|", "▒": "+", "░": ".", "─": "-", "“": '"', "”": '"', "’": "'", "⟨": "<", "⟩": ">",
    "🟢": "ok", "🟡": "! ", "🔴": "x ", "⚪": "- ", "❌": "no", "✅": "ok", "≥": ">", "≤": "<",
})  # fmt: skip


@record(frozen=True, slots=True)
class Screen:
    """What is written to. ``width`` in columns; ``has_unicode``: more than ASCII arrives whole."""

    width: int = DEFAULT_WIDTH
    has_color: bool = False
    has_unicode: bool = True

    def paint(self, text: str, style: str) -> str:
        """Return the text in one of our few styles, or as it is."""
        if not self.has_color or not style or not text.strip():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def bar(self, share: float, width: int) -> str:
        """Return a bar padded to ``width`` columns; without eighths of a block, in whole cells."""
        if self.has_unicode:
            return bar(share, width).ljust(width)
        cells = round(min(max(share, 0.0), 1.0) * width)
        return ("#" * (cells or int(share > 0))).ljust(width)

    def title(self, text: str, note: str = "") -> str:
        """Return the first line of a block, with a quiet remark behind it as far as there is room."""
        room = self.width - columns_of(text) - 2
        return self.paint(text, "bold") + (f"  {self.paint(cut(note, room), 'dim')}" if note and room > 0 else "")

    def finish(self, text: str) -> str:
        """Return the text in what the screen can show, without blanks at the ends of its lines."""
        lines = (line.rstrip() for line in (text if self.has_unicode else to_ascii(text)).split("\n"))
        return "\n".join(lines)


PLAIN = Screen()


def fitting_width(columns: int) -> int:
    """Return the width to write for a terminal of so many columns: too narrow breaks tables, too wide tires eyes."""
    return min(max(columns, NARROWEST), WIDEST)


def to_ascii(text: str) -> str:
    """Return the text in ASCII, at the same width: signs of ours by their likes, other letters as question marks."""
    return "".join(letter if letter.isascii() else "?" * columns_of(letter) for letter in text.translate(_ASCII))


def columns_of(text: str) -> int:
    """Return how many columns a terminal gives to ``text``: wide characters two, joining ones none."""
    return sum(
        0
        if unicodedata.combining(character) or character == "\ufe0f"
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def pad(text: str, width: int, *, is_right: bool = False) -> str:
    """Return the text filled up with blanks to ``width`` columns."""
    space = " " * (width - columns_of(text))
    return space + text if is_right else text + space


def cut(text: str, width: int, *, is_left: bool = False) -> str:
    """Return the text in at most ``width`` columns; ``is_left``: its end is what counts, as of a path."""
    if columns_of(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    kept: list[str] = []
    used = 1
    for character in reversed(text) if is_left else text:
        used += columns_of(character)
        if used > width:
            break
        kept.append(character)
    return "…" + "".join(reversed(kept)) if is_left else "".join(kept).rstrip() + "…"


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return a paragraph's lines, none of them wider than ``width``: a word that is too long for a line is cut."""
    room = max(width - max(columns_of(first), columns_of(rest)), 8)
    lines = [""]
    for word in (cut(word, room) for word in text.split()):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if columns_of(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return [f"{rest if index else first}{line}" for index, line in enumerate(lines)]


@record(frozen=True, slots=True)
class Column:
    """A column: its style, which side is cut, and in which turn it gives way (0: never), down to ``least`` columns.

    Below ``least`` it is left out altogether where ``is_optional``.
    """

    style: str = ""
    turn: int = 0
    least: int = 6
    is_right: bool = False
    is_cut_left: bool = False
    is_optional: bool = False


def table(rows: Sequence[Sequence[str]], columns: Sequence[Column], screen: Screen, indent: int = 2) -> list[str]:
    """Return the rows as lines that fit the screen: columns shrink in their turn, each cell to one line."""
    widths = _widths(rows, columns, screen.width - indent)
    used = [index for index, width in enumerate(widths) if width]
    return [
        (" " * indent + "  ".join(_cell(row[index], widths[index], columns[index], screen) for index in used)).rstrip()
        for row in rows
    ]


def _cell(text: str, width: int, column: Column, screen: Screen) -> str:
    text = pad(cut(text, width, is_left=column.is_cut_left), width, is_right=column.is_right)
    return screen.paint(text, column.style)


def _widths(rows: Sequence[Sequence[str]], columns: Sequence[Column], room: int) -> list[int]:
    widths = [max((columns_of(row[index]) for row in rows), default=0) for index in range(len(columns))]
    for index in sorted((i for i, column in enumerate(columns) if column.turn), key=lambda i: columns[i].turn):
        over = _over(widths, room)
        if over <= 0:
            break
        column = columns[index]
        least = min(column.least, widths[index])
        if column.is_optional and widths[index] - over < least:
            widths[index] = 0
        else:
            widths[index] = max(widths[index] - over, least)
    # Where that is not enough the widest of those that may give way goes below its least.
    yielding = [index for index, column in enumerate(columns) if column.turn]
    while yielding and (over := _over(widths, room)) > 0:
        widest = max(yielding, key=widths.__getitem__)
        if widths[widest] <= 1:
            break
        widths[widest] = max(widths[widest] - over, 1)
    return widths


def _over(widths: Sequence[int], room: int) -> int:
    """Return by how many columns the widths, with two blanks between them, are more than the room."""
    return sum(widths) + 2 * (sum(map(bool, widths)) - 1) - room
