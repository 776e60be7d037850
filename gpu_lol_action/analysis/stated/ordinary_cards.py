"""A training that asks for a card which its documentation would have named, and does not: the card that authors take for granted is taken.

Authors say so where a training takes more than the cards that most people have. Where the model, or what it keeps per sample, is
assumed and they are silent, the sum is mostly wrong, not they (``docs/analysis-documentation.md`` has the figures). And where a sum lies up to
half over the largest card that is common, that is what they had: larger ones are named.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.stated.reconcile import Agreement, Statement
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.vram import VramQuestion

COMMON_GIB = 79
"""What cards of 80 GB offer to programs."""
_COMMON = "hardware.common_card"
FEW_SAMPLES = 3
"""Of a larger batch fewer samples are assumed instead."""
LARGE_B = 1.0
"""Billions of parameters."""
MANY_CARDS = 4
OVER_COMMON, OVER_COMMON_WHOLE = 1.1, 1.5
"""Of that, what a sum may be expected to come to: the formulas for training are off by more (``docs/vram-model.md``), most where all of a model is
trained: there 80 GB was right for each of the five sums from a tenth to half over, on repositories known and new."""


def ordinary(
    breakdown: MemoryBreakdown,
    question: VramQuestion,
    findings: tuple[Finding, ...],
    confidence: Confidence,
    said: Iterable[Statement],
    *,
    is_for_batch: bool,
) -> Agreement | None:
    """Return the memory of a card that goes without saying, for a training of which nothing was weighed; None where the sum stands.

    ``is_for_batch``: nothing says how many cards there are, and it is the batch that is written for which a larger one was chosen.

    A sum that is sure, or small, stands, and so does one where documentation speaks of larger cards. Nobody needs to say that a
    large transformer which the program itself lays out, all of a language model on many cards, or anything on several machines, is
    trained in a data center.
    """
    if not question.method.trains:
        return None
    required = breakdown.required_gib
    is_for_many = _is_for_a_data_center(question) or any(f.field == "hardware.num_nodes" for f in findings)
    silent = best(findings, SILENCE) if not is_for_many else None
    if silent is not None and confidence is Confidence.LOW and required > ORDINARY_GIB:
        why = f"{required:.3g} GiB computed of what is partly assumed, and {silent.evidence} names no card of more than 24 GB"
        return Agreement(ORDINARY_GIB, why, silent.evidence, silent)
    over = OVER_COMMON_WHOLE if question.method.trains_everything else OVER_COMMON
    is_little_over = required > COMMON_GIB and breakdown.expected_gib <= COMMON_GIB * over
    is_little_over = is_little_over or _keeps_too_much(breakdown, question)
    if not is_little_over or is_for_batch or any(each.memory_gib > COMMON_GIB + 1 for each in said):
        return None
    named = "nothing names a card of more than 80 GB"
    where = next((each.evidence for each in findings if each.field == "model.id"), Evidence("."))
    common = Finding(_COMMON, "80 GB", named, Confidence.LOW, where)
    room = f"of which {required - breakdown.expected_gib:.3g} are room"
    said_so = room if breakdown.expected_gib <= COMMON_GIB * over else "which no card held for its authors"
    why = f"{required:.3g} GiB computed, {said_so}, and {named}"
    return Agreement(COMMON_GIB, why, where, common)


def _keeps_too_much(breakdown: MemoryBreakdown, question: VramQuestion) -> bool:
    """Whether all but what a denoiser keeps of its few samples, the least sure of all terms, fits on the common card, and that alone does not."""
    if not question.model.kind.startswith("diffusion") or question.batch_size > FEW_SAMPLES:
        return False
    kept = added(term.gib for term in breakdown.terms if term.name == "activations")
    return breakdown.expected_gib - kept < COMMON_GIB < breakdown.expected_gib


def stands_for_silence(breakdown: MemoryBreakdown) -> bool:
    """Whether what is asked for is a card that goes without saying, and not what the sum comes to."""
    return breakdown.weighed is not None and breakdown.weighed.field in {SILENCE, _COMMON}


def _is_for_a_data_center(question: VramQuestion) -> bool:
    model = question.model
    is_whole = question.method.trains_everything and model.kind.startswith(("llm", "vlm"))
    return model.parameters_b >= LARGE_B and (
        model.source == "shape" or (is_whole and question.gpu_count >= MANY_CARDS)
    )
