"""Sentences that a document breaks over several lines: half of one says an amount, the other half of what."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.domain.patterns import regex

LEAST_WIDTH, MOST_WIDTH = 50, 140
"""Characters of a line that its author broke because it was full."""
MOST_LINES = 12
# What begins anew: an item, a heading, a table, a quotation, a directive, markup, a picture.
_BEGINS = regex(r"\s{0,8}(?:[-*+•]\s|\d{1,2}[.)]\s|#|\||>|\.\.\s|<|!\[|:\w|={3}|-{3}|~{3})")
_ENDS = regex(r"(?:[|>:\\]|  )$")


def paragraphs(lines: Sequence[str]) -> list[range]:
    """Return the document as ranges of line numbers, from 1: a paragraph that was broken as one, every other line by itself."""
    found: list[range] = []
    is_code = False
    for number, line in enumerate(lines, 1):
        is_mark = is_fence(line, is_code=is_code)
        is_code ^= is_mark
        last = found[-1] if found else None
        if last is None or is_code or is_mark or not _goes_on(lines[number - 2], line) or len(last) >= MOST_LINES:
            found.append(range(number, number + 1))
        else:
            found[-1] = range(last.start, number + 1)
    return found


def _goes_on(line: str, behind: str) -> bool:
    """Whether a line is full and the one behind it is no beginning."""
    if not (LEAST_WIDTH <= len(line) <= MOST_WIDTH and behind.strip() and len(behind) <= MOST_WIDTH):
        return False
    return not (_BEGINS.match(behind) or _ENDS.search(line) or line.lstrip().startswith(("#", "|", "<", "..")))
