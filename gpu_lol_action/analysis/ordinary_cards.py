"""A training whose sum is a guess, and asks for a card that its documentation would have named: an ordinary card is taken.

Authors say so where a training takes more than the cards that most people have. Where the model, or what it keeps per sample, is
assumed and they are silent, the sum is mostly wrong, not they (``docs/analysis.md`` has the figures).
"""

from __future__ import annotations

from gpu_lol_action.analysis.reconcile import Agreement
from gpu_lol_action.analysis.silent_documents import ORDINARY_GIB, SILENCE
from gpu_lol_action.analysis.surest import best
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown


def ordinary(
    breakdown: MemoryBreakdown, findings: tuple[Finding, ...], confidence: Confidence, *, trains: bool
) -> Agreement | None:
    """Return an ordinary card's memory for a sum; None where this is sure or small, or documentation may speak of as much."""
    silent = best(findings, SILENCE)
    if silent is None or not trains or confidence is not Confidence.LOW or breakdown.required_gib <= ORDINARY_GIB:
        return None
    why = f"the {breakdown.required_gib:.3g} GiB are partly assumed, and {silent.evidence} names no card of more than 24 GB, so that is taken"
    return Agreement(ORDINARY_GIB, why, silent.evidence, silent)
