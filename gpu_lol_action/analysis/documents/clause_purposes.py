"""Which part of a sentence is of training and which of running a model, where it tells of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gpu_lol_action.analysis.documents.amount_wordings import AMOUNT
from gpu_lol_action.analysis.documents.documented_phrases import ANY_CARD, purpose, purposes_in
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

# Where what is said of one purpose ends for sure, and where it may: before the next amount.
_ENDS = regex(r"[;\uff1b]|\)[,.]?|\b(?=(?:while|whereas|but)\b)|(?=而|但)", re.IGNORECASE)
_BRACKETS = regex(r"[(\uff08]([^()\uff08\uff09]{4,80})[)\uff09]")
_APART = regex(r"[,/\uff0c\u3001]|\band\b", re.IGNORECASE)


@record(frozen=True, slots=True)
class Clause:
    """A part of a sentence, from ``begin`` on, and what it is of: ``training``, ``inference`` or empty."""

    begin: int
    text: str
    purpose: str


def clauses(sentence: str) -> tuple[Clause, ...]:
    """Return a sentence in parts that each tell of one purpose; whole where it names but one, or its amounts cannot be told apart.

    "≥8 GB for inference and ≥16 GB for training" says of each amount behind it what it is for, "training takes 16 GB, inference
    8 GB" before it. Which of the two a sentence does shows in what stands first, an amount or a purpose.
    """
    whole = (Clause(0, sentence, purpose(sentence)),)
    said = purposes_in(sentence)
    if len({kind for _, kind in said}) < 2:
        return _aside(sentence) or whole
    marks = list(_marks(sentence))
    if len(marks) < 2:
        return whole
    is_before = said[0][0] < marks[0][0]
    cuts = _cuts_before(said, marks) if is_before else _cuts_behind(sentence, said, marks)
    if cuts is None:
        return whole
    bounds = pairwise([0, *cuts, len(sentence)])
    parts = (Clause(here, sentence[here:end], purpose(sentence[here:end])) for here, end in bounds)
    return tuple(part for part in parts if part.text)


def _aside(sentence: str) -> tuple[Clause, ...]:
    """Return a sentence and what it says in brackets of another purpose: "8 GB VRAM (24 GB for training)"; () where it has none such."""
    found = _BRACKETS.search(sentence)
    if found is None or not purpose(found[1]) or purposes_in(sentence[: found.start()]):
        return ()
    parts = (sentence[: found.start()], found[1])
    if not all(AMOUNT.search(part) or ANY_CARD.search(part) for part in parts):
        return ()
    return Clause(0, parts[0], ""), Clause(found.start(1), sentence[found.start(1) :], purpose(found[1]))


def _marks(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where amounts and cards stand, an amount right behind its card with it."""
    spans = sorted(
        [
            *(found.span() for found in AMOUNT.finditer(sentence)),
            *(found.span() for found in ANY_CARD.finditer(sentence)),
        ]
    )
    last: tuple[int, int] | None = None
    for begin, end in spans:
        if last is not None and begin - last[1] <= 3:
            last = (last[0], max(end, last[1]))
            continue
        if last is not None:
            yield last
        last = (begin, end)
    if last is not None:
        yield last


def _cuts_before(said: Sequence[tuple[int, str]], marks: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return where words begin that tell of another purpose than those before them; None where an amount is of both."""
    cuts: list[int] = []
    current, done = "", 0
    for begin, end in marks:
        between = [word for word in said if done <= word[0] < begin]
        if len({kind for _, kind in between}) > 1:
            return None
        if between and between[0][1] != current:
            cuts += [between[0][0]] if current else []
            current = between[0][1]
        done = end
    return cuts


def _cuts_behind(sentence: str, said: Sequence[tuple[int, str]], marks: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return where the words end that tell what the amounts before them are of; None where an amount is of both."""
    cuts: list[int] = []
    for (_, end), (following, _) in pairwise(marks):
        between = [word for word in said if end <= word[0] < following]
        if len({kind for _, kind in between}) > 1:
            return None
        if between:
            last = between[-1][0]
            further = next((at for at, _ in said if at > last), len(sentence))
            cut = _ENDS.search(sentence, last, further) or _APART.search(sentence, last, following)
            cuts.append(cut.end() if cut is not None else following)
    behind = {kind for at, kind in said if at >= marks[-1][1]}
    return cuts if len(behind) == 1 else None
