"""What stands around a line of a document: the sentence that it is a part of, the heading above, the head of its table, what introduces its list."""

from __future__ import annotations

import functools

from gpu_lol_action.analysis.documents.wrapped_lines import paragraphs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_ROWS = 40
MOST_ITEMS, MAX_INTRODUCTION = 12, 300
MAX_CHARACTERS = 2000
SENTENCE_END = regex(r"(?<!\bi\.e)(?<!\be\.g)[.;!?]\s|。")
_RULE = regex(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_ITEM = regex(r"\s{0,6}(?:[-*+]|\d{1,2}[.)])\s")
_HEADING = regex(r"^ {0,3}#{1,6}\s+(.{1,200})")


def line_at(checkout: Checkout, where: Evidence) -> str:
    """Return a line of a document; of a paragraph that was broken over several, the sentences that stand on it."""
    source = checkout.find(where.path)
    lines, _ = _read(source)
    if not 0 < where.line <= len(lines):
        return ""
    numbers = _paragraphs(source)[where.line]
    if len(numbers) == 1:
        return lines[where.line - 1][:MAX_CHARACTERS]
    begin = sum(len(lines[number - 1].strip()) + 1 for number in range(numbers.start, where.line))
    end = begin + len(lines[where.line - 1].strip())
    whole = " ".join(lines[number - 1].strip() for number in numbers)
    ends = [found.end() for found in SENTENCE_END.finditer(whole)]
    return whole[
        max((at for at in ends if at <= begin), default=0) : min((at for at in ends if at >= end), default=len(whole))
    ][:MAX_CHARACTERS]


def head_of_table(checkout: Checkout, where: Evidence) -> str:
    """Return the head of the table in which a line is a row; empty where it is none."""
    lines, _ = _read(checkout.find(where.path))
    number = where.line - 1
    while 0 < number < len(lines) and "|" in lines[number] and where.line - number <= MAX_ROWS:
        if _RULE.match(lines[number][:400]):
            return lines[number - 1][:2000]
        number -= 1
    return ""


def introduction(checkout: Checkout, where: Evidence) -> str:
    """Return the sentence that introduces the list of which a line is an item ("The models were trained on this machine:"), else nothing."""
    lines, _ = _read(checkout.find(where.path))
    number = where.line - 1
    if not (0 < number < len(lines)) or _ITEM.match(lines[number]) is None:
        return ""
    for line in reversed(lines[max(0, number - MOST_ITEMS) : number]):
        if line.strip() and _ITEM.match(line) is None:
            return line.strip()[-MAX_INTRODUCTION:] if line.rstrip().endswith((":", "\uff1a")) else ""
    return ""


def section_of(checkout: Checkout, where: Evidence) -> tuple[int, str]:
    """Return the line and the words of the heading above a place."""
    _, headings = _read(checkout.find(where.path))
    return headings[where.line - 1] if 0 < where.line <= len(headings) else (0, "")


@functools.lru_cache(maxsize=64)
def _paragraphs(source: Source | None) -> dict[int, range]:
    """Return the lines of the paragraph in which each line of a document stands, by the line's number."""
    lines = source.text.split("\n") if source is not None else []
    return {number: numbers for numbers in paragraphs(lines) for number in numbers}


@functools.lru_cache(maxsize=64)
def _read(source: Source | None) -> tuple[tuple[str, ...], tuple[tuple[int, str], ...]]:
    """Return a document's lines, and for each the line and words of the heading above it."""
    lines = tuple(source.text.split("\n")) if source is not None else ()
    headings: list[tuple[int, str]] = []
    is_fenced, above = False, (0, "")
    for number, line in enumerate(lines, 1):
        if is_fence(line, is_code=is_fenced):
            is_fenced = not is_fenced
        elif not is_fenced and (heading := _HEADING.match(line)):
            above = (number, heading[1])
        headings.append(above)
    return lines, tuple(headings)
