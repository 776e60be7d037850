"""Runs that fit a card only because something was assumed that saves memory and that nothing says.

As it is written such a run does not fit the large card that is widely rented, and nobody knows whether its authors saved what is
assumed or had a larger machine. So no smaller card is asked for: one that holds what was assumed and nothing more would kill a run
that does not save, and four times the batch would ask for a smaller machine than the batch itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from gpu_lol_action.analysis.memory.machine_need import Saved
from gpu_lol_action.analysis.stated.reconcile import Statement
from gpu_lol_action.analysis.training.placement import LARGE_CARD_GIB
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.estimation.calibration import workload_of
from gpu_lol_action.estimation.vram import VramQuestion

FLOOR = "the run fits a smaller card only with what is assumed"
STAYS = "stay asked for, because the run needs no less than before this change as it is written"
"""How the notes end that say why more is asked for than the sum: what a measurement puts an end to."""


def with_floor(
    breakdown: MemoryBreakdown, asked: VramQuestion, question: VramQuestion, said: Iterable[Statement]
) -> tuple[MemoryBreakdown, Saved | None]:
    """Return the breakdown with no less than the large card asked for, or than the card or amount of ``said`` that was weighed.

    ``asked`` is the run as it is written, ``question`` what was made of it. Where its batch or its length were not believed either,
    or documents are silent about large cards, the sum as it is.
    """
    if not _is_saved(asked, question):
        return breakdown, None
    least = float(math.floor(LARGE_CARD_GIB))
    if breakdown.weighed is not None:
        least = min(
            least, float(max((math.floor(s.memory_gib) for s in said if s.finding == breakdown.weighed), default=0))
        )
    own = breakdown.required_gib
    if least <= own:
        return breakdown, None
    note = f"{least:g} GiB are asked for, not {own:g}: {FLOOR}"
    computed = own if breakdown.computed_gib is None else breakdown.computed_gib
    unsaved = replace(question, precision=asked.precision, is_checkpointing=asked.is_checkpointing)
    # What was measured of a run that saves says nothing of one that does not.
    as_written = workload_of(unsaved, breakdown.terms)
    more = replace(breakdown, workload=as_written, required_gib=least, high_gib=max(breakdown.high_gib, least), computed_gib=computed,
                   notes=(*breakdown.notes, note))  # fmt: skip
    return more, Saved(unsaved, own)


def _is_saved(asked: VramQuestion, question: VramQuestion) -> bool:
    """Whether 16-bit numbers or checkpointing were assumed, and nothing besides was set aside."""
    is_as_large = (asked.batch_size, asked.sequence_length) == (question.batch_size, question.sequence_length)
    is_narrower = asked.is_float32 and not question.is_float32
    return is_as_large and (is_narrower or (question.is_checkpointing and not asked.is_checkpointing))
