"""Books of measured runs as JSON text and back; what cannot be read is an error, never a guess."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gpu_lol_action.domain.measured import KEPT_RUNS, MeasuredBook, MeasuredRun
from gpu_lol_action.domain.memory import Workload

FORMAT = 1
MAX_COMMAND = 200
_MOST_GIB = 1 << 20
_FOREIGN = re.compile(r"[^A-Za-z0-9 ._()-]")


class UnreadableBook(ValueError):
    """The text is no book of ours."""


def book_to_json(book: MeasuredBook) -> str:
    """Return the book's text: same book, same bytes."""
    return json.dumps({"format": FORMAT, "runs": [_run(run) for run in book.runs]}, separators=(",", ":"))


def book_from_json(text: str) -> MeasuredBook:
    """Return the book behind a text. Raises UnreadableBook for anything else."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise UnreadableBook(f"format {str(document['format'])[:20]} is not {FORMAT}")
        return MeasuredBook(tuple(_read(each) for each in document["runs"][-KEPT_RUNS:]))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UnreadableBook(str(error)[:200] or type(error).__name__) from None


def card_name(said: str) -> str:
    """Return a card's name as a machine says it, held to what names of cards are made of."""
    return _FOREIGN.sub("", said)[:60].strip()


def _run(run: MeasuredRun) -> dict[str, Any]:
    of = run.workload
    return {
        "at": run.at.isoformat(),
        "sha": run.sha,
        "how": run.how,
        "command": run.command[:MAX_COMMAND],
        "card": card_name(run.card),
        "card_gib": run.card_gib,
        "peak_gib": run.peak_gib,
        "samples": run.samples,
        "whole": run.is_whole,
        "workload": None
        if of is None
        else [of.model, of.method, of.precision, of.batch_size, of.sequence_length, of.rest],
        "estimated": [run.low_gib, run.expected_gib, run.high_gib],
    }


def _read(read: Mapping[str, Any]) -> MeasuredRun:
    at = datetime.fromisoformat(_text(read["at"]))
    if at.tzinfo is None:
        raise UnreadableBook("a time has no zone")
    low, expected, high = (None if each is None else _size(each) for each in read["estimated"])
    return MeasuredRun(
        at=at,
        sha=_text(read["sha"]),
        how=_text(read["how"]),
        command=_text(read["command"])[:MAX_COMMAND],
        card=card_name(_text(read["card"])),
        peak_gib=_size(read["peak_gib"]),
        card_gib=None if read["card_gib"] is None else _size(read["card_gib"]),
        samples=int(_size(read["samples"])),
        is_whole=read["whole"] is True,
        workload=None if read["workload"] is None else _workload(read["workload"]),
        low_gib=low,
        expected_gib=expected,
        high_gib=high,
    )


def _workload(read: Any) -> Workload:
    model, method, precision, batch, length, rest = read
    return Workload(_text(model), _text(method), _text(precision), int(_size(batch)), int(_size(length)), _text(rest))


def _size(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnreadableBook("a figure is none")
    if not 0 <= value <= _MOST_GIB:
        raise UnreadableBook("a figure is out of bounds")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 400 or not value.isprintable():
        raise UnreadableBook("a text is none")
    return value
