"""How a document is laid out: the headings above its lines, its blocks of code, and the section around a line."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.domain.patterns import regex

_HEADING = regex(r"\s{0,3}(?:(?:[-*+]\s{1,3})?(#{1,6})\s+(.{1,200})|<summary>\s*(\S[^<]{0,200}))")
# A question on a line of its own, as pages of answers have them.
_QUESTION = regex(
    r"\s{0,3}(?:[-*+]\s{1,3}|\d{1,2}[.)]\s{1,3})?(?:\*\*|__)(?:Q\d{0,2}\s?[:.)]\s{0,3})?([^*_]{3,160}\?)(?:\*\*|__)\s{0,4}"
)

_LABEL = regex(
    r"\s{0,3}[*_]{0,2}((?:\w[\w/&-]{0,30} ){0,5}\w[\w/&-]{0,30})[*_]{0,2}(?:\s?\([^()]{1,60}\))?[*_]{0,2}\s?[:\uff1a][*_]{0,2}|\s{0,3}(?:\*\*|__)((?:\w[\w/&-]{0,30} ){0,5}\w[\w/&-]{0,30})(?:\*\*|__)"
)
_ITEM = regex(r"\s*(?:[-*+•]|\d{1,2}[.)])\s|\s{4}")


def headings_of(lines: Sequence[str]) -> list[str]:
    """Return the heading that each line stands under; code blocks have none of their own."""
    found: list[str] = []
    heading, is_code = "", False
    for line in lines:
        if is_fence(line, is_code=is_code):
            is_code = not is_code
        elif not is_code and (match := _HEADING.match(line)):
            heading = match[2] or match[3]
        elif not is_code and line.rstrip().endswith(("**", "__")) and (match := _QUESTION.fullmatch(line)):
            heading = match[1]
        found.append(heading)
    return found


def labels_of(lines: Sequence[str]) -> list[str]:
    """Return the label that introduces the list in which each line stands (``Training:`` on a line of its own), else an empty text."""
    found: list[str] = []
    label = ""
    for line in lines:
        if not line.strip():
            found.append("")
            continue
        if (match := _LABEL.fullmatch(line.rstrip())) is not None:
            label = match[1] or match[2]
        elif not _ITEM.match(line) and not line.lstrip().startswith("|"):
            label = ""
        found.append(label)
    return found


def code_blocks(lines: Sequence[str]) -> list[range]:
    """Return the fenced blocks of code as ranges of line numbers, from 1, their fences left out."""
    found: list[range] = []
    start: int | None = None
    for number, line in enumerate(lines, 1):
        if not is_fence(line, is_code=start is not None):
            continue
        if start is None:
            start = number + 1
        else:
            found.append(range(start, number))
            start = None
    return found


def section_around(lines: Sequence[str], number: int) -> range:
    """Return the lines of the section in which a line stands, its subsections too; of a document without headings all."""
    start, depth, is_code = 1, 0, False
    for index, line in enumerate(lines, 1):
        is_code ^= is_fence(line, is_code=is_code)
        heading = None if is_code else _HEADING.match(line)
        if heading is None or not heading[1]:
            continue
        if index <= number:
            start, depth = index, len(heading[1])
        elif len(heading[1]) <= depth:
            return range(start, index)
    return range(start, len(lines) + 1)
