"""The question of a run laid over the cards and machines that something says: its share of a batch, its copies, its stages."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.media.open_sizes import DEFAULT_GIB, Bound, bounded
from gpu_lol_action.analysis.training.placement import (
    LARGE_CARD_GIB,
    LARGEST_CARD_GIB,
    over_stages,
    place,
    share_batch,
)
from gpu_lol_action.analysis.training.relaxed import Relaxed
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram

_BATCH = regex(r"\ba batch of (\d{1,9})\b")
ABOUT = 1.2
"""Times an amount up to which a sum agrees with it."""


def placed(
    asked: VramQuestion, stated: int | None, findings: tuple[Finding, ...], said_fields: AbstractSet[str]
) -> tuple[VramQuestion, int, tuple[str, ...]]:
    """Return the question as it is placed on cards: a whole model in each process of several, or one over all machines together.

    And how many there are, and what is assumed for it, each with what was read where that is not believed.
    """
    copies = best(findings, "hardware.replicas")
    question, count, relaxed = place(asked, stated if copies is None else None, said_fields)
    count = max(count, int(copies.value)) if copies is not None else count
    return over_stages(question, count, _machines(findings)), count, tuple(_told(each, findings) for each in relaxed)


def _told(relaxed: Relaxed, findings: tuple[Finding, ...]) -> str:
    read = best(findings, relaxed.field) if relaxed.is_against else None
    words = relaxed.words
    if best(findings, "training.pairs") is not None:  # what was read counts pairs, and the sum each of both
        words = _BATCH.sub(lambda found: f"a batch of {max(1, int(found[1]) // 2)} pairs", words)
    return words if read is None else f"{read.why} (`{read.evidence}`), and {words}"


def is_of_one_card(stated_gib: float, question: VramQuestion) -> bool:
    """Whether an amount that only the largest cards have is what the whole run takes by the sum: then it is one card's, and not each of several's."""
    return (
        LARGE_CARD_GIB < stated_gib <= LARGEST_CARD_GIB and estimate_vram(question).required_gib <= stated_gib * ABOUT
    )


def _machines(findings: tuple[Finding, ...]) -> int:
    return int(value_of_best(findings, "hardware.num_nodes") or 1)


def shared(
    asked: VramQuestion, stated: int | None, findings: tuple[Finding, ...]
) -> tuple[VramQuestion, int | None, Bound]:
    """Return the question with a card's share of a batch that is for all cards, the count of cards, and its bound if samples are of an assumed size.

    What only an assumed size asks for does not add cards.
    """
    machines = _machines(findings)
    is_shared = best(findings, "training.batch_spread") is not None
    if is_shared and stated is not None:
        asked, stated = share_batch(asked, stated, machines)
    bound = bounded(asked, findings, DEFAULT_GIB, is_divided=not is_shared or stated is not None)
    if is_shared and stated is None:
        return *share_batch(bound.question, stated, machines), bound
    return bound.question, stated, bound
