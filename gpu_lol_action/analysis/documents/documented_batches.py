"""Batches that documentation names beside an amount: what was measured with another batch than the run's says little of the run.

"I trained it with a batch size of 350 on 32 GB" beside a program that starts with 64.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "documented.batch"
"""Field of findings that give the batch with which an amount was measured: the sentence names both."""
FURTHEST = 3  # times the run's own, or a part of it so small: about as far as an amount may lie from the sum
MAX_LINES, MAX_LINE_CHARACTERS = 4000, 2000
_BATCH = regex(
    r"\bbatch(?:[ _-]?sizes?)?(?:\s(?:of|is|was|to|=)|\s?[=:])?\s{0,2}(\d{1,5})\b(?!\s?[Gx])|\b(\d{1,5})\s(?:as\s)?batch[ _-]?size\b",
    re.IGNORECASE,
)
_HARDWARE = regex(r"\b(?:GPUs?|VRAM|memory|\d{1,3} ?G(?:i?B)?)\b|\b[AHBVP]\d{2,3}s?\b", re.IGNORECASE)
_SENTENCE_END = regex(r"(?<=[.!?;])\s{1,4}")


def batches_told(source: Source, numbers: Iterable[int]) -> list[Finding]:
    """Return the batch of each of these lines of prose whose sentence on memory or cards names just one."""
    lines = source.text.split("\n")[:MAX_LINES]
    found = []
    for number in sorted(number for number in numbers if 0 < number <= len(lines)):
        line = lines[number - 1][:MAX_LINE_CHARACTERS]
        told = [sentence for sentence in _SENTENCE_END.split(line) if _HARDWARE.search(sentence)]
        named = {each[1] or each[2] for sentence in told for each in _BATCH.finditer(sentence)}
        if "|" not in line and len(named) == 1:
            where = Evidence(source.path, number)
            found.append(Finding(FIELD, named.pop(), "its sentence names this batch", Confidence.LOW, where))
    return found


def of_other_batches(findings: tuple[Finding, ...]) -> frozenset[Evidence]:
    """Return the places whose amounts were measured with a batch far from the run's own."""
    own = value_of_best(findings, "training.batch_size")
    if own is None or not own.isdigit() or int(own) < 1:
        return frozenset()
    told = {f.evidence: int(f.value) for f in findings if f.field == FIELD}
    return frozenset(
        where for where, batch in told.items() if max(batch, int(own)) >= FURTHEST * max(1, min(batch, int(own)))
    )
