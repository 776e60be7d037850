"""Cutting a comment to the size that GitHub takes, without losing what the reader must know."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby

# GitHub refuses a comment of more than 65,536 characters; a little less leaves room for what a proxy adds.
MAX_COMMENT_LENGTH = 65_000

_FENCE = re.compile(r"(`{3,})[^`]*")
_LEFT_OUT = "_Left out here, because a comment has a size limit: {what}._"
_WHOLE = "_[The summary of the run]({url}) has this whole._"


def fit_comment(body: str, limit: int = MAX_COMMENT_LENGTH, *, overflow_url: str | None = None) -> str:
    """Return ``body`` in at most ``limit`` characters; what is left out is said, with where it can be read.

    Folds go first, from the last (evidence) to the first, then rows of tables, then whole fenced blocks,
    then paragraphs from the end. Line 1 (the marker), the heading and the last line (what is billing)
    always stay, and no fence is ever left open.
    """
    if len(body) <= limit:
        return body
    if overflow_url:
        note = f"{_WHOLE.format(url=overflow_url)}\n\n"
        # The last line says what is billing, and stays the last.
        head, _, last = _cut(body, limit - len(note)).rpartition("\n")
        return f"{head.rstrip()}\n\n{note}{last}"
    return _cut(body, limit)


def _cut(body: str, limit: int) -> str:
    blocks = split_blocks(body)
    for drop in (_drop_folds, _drop_table_rows, _drop_fences, _drop_paragraphs):
        if len(_text(blocks)) > limit:
            blocks = drop(blocks, limit)
    return _text(blocks)


def split_blocks(body: str) -> list[str]:
    """Return the comment cut into folds, fences, tables and runs of other lines; joined with newlines they are the comment."""
    lines = body.split("\n")
    labels: list[str] = []
    ticks, depth, number = "", 0, 0
    for line in lines:
        opening = _FENCE.fullmatch(line) if not ticks else None
        is_starting = opening is not None or (not ticks and depth == 0 and line.startswith("<details"))
        if is_starting and depth == 0:
            number += 1
        if not ticks and line.startswith("<details"):
            depth += 1
        labels.append(_label(line, is_fenced=bool(ticks or opening), depth=depth, number=number))
        if opening is not None:
            ticks = opening[1]
        elif ticks and line == ticks:
            ticks = ""
        if not ticks and depth and line.rstrip().endswith("</details>"):
            depth -= 1
            number += depth == 0
    return [
        "\n".join(line for line, _ in group)
        for _, group in groupby(zip(lines, labels, strict=True), lambda pair: pair[1])
    ]


def _label(line: str, *, is_fenced: bool, depth: int, number: int) -> str:
    if depth:
        return f"fold {number}"
    if is_fenced:
        return f"fence {number}"
    return f"table {number}" if line.startswith("|") else f"text {number}"


def _text(blocks: Iterable[str]) -> str:
    return "\n".join(blocks)


def _drop_folds(blocks: list[str], limit: int) -> list[str]:
    return _replace_from_the_end(blocks, limit, _is_fold, "details")


def _drop_fences(blocks: list[str], limit: int) -> list[str]:
    return _replace_from_the_end(blocks, limit, lambda block: block.startswith("```"), "a block of text")


def _is_fold(block: str) -> bool:
    return block.startswith("<details")


def _replace_from_the_end(blocks: list[str], limit: int, is_meant: Callable[[str], bool], what: str) -> list[str]:
    blocks = list(blocks)
    for index in reversed(range(len(blocks))):
        if len(_text(blocks)) <= limit:
            break
        if is_meant(blocks[index]):
            blocks[index] = f"\n{_LEFT_OUT.format(what=what)}\n"
    return blocks


def _drop_table_rows(blocks: list[str], limit: int) -> list[str]:
    """Drop rows from the end of the longest table, again and again, saying how many."""
    blocks = list(blocks)
    tables = [index for index, block in enumerate(blocks) if block.startswith("|")]
    for index in sorted(tables, key=lambda each: -len(blocks[each])):
        over = len(_text(blocks)) - limit
        if over <= 0:
            break
        rows = blocks[index].split("\n")
        dropped = 0
        # Head, rule and one row stay: a table without a row says nothing.
        while over + 80 > 0 and len(rows) > 3:
            over -= len(rows.pop()) + 1
            dropped += 1
        if dropped:
            blocks[index] = "\n".join([*rows, f"| … {dropped} more rows |"])
    return blocks


def _drop_paragraphs(blocks: list[str], limit: int) -> list[str]:
    """Drop lines above the last one, from the end; marker and heading (the first two lines) stay."""
    lines = _text(blocks).split("\n")
    note = _LEFT_OUT.format(what="the rest")
    while len(lines) > 3 and len("\n".join(lines)) + len(note) + 2 > limit:
        del lines[-2]
    return ["\n".join([*lines[:-1], note, "", lines[-1]])]
