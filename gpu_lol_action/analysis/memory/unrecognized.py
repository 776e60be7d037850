"""The memory where no model of a known size was recognized: what documentation says, or what is assumed for a tree of this kind."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.media.open_sizes import DEFAULT_GIB, assumed_size
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.analysis.memory.sureness import sureness
from gpu_lol_action.analysis.stated.marked_statements import of_as_many
from gpu_lol_action.analysis.stated.reconcile import LARGEST_CARD_GIB, WEIGHT_OF_NAMED_CARD, Statement, headline
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB, SELDOM_GB, sold_gb, whole_gib
from gpu_lol_action.domain.finding import Confidence, Finding


def without_model(
    findings: tuple[Finding, ...], said: Sequence[Statement], count: int, *, trains: bool, part: str = ""
) -> MemoryNeed:
    """Return what documentation says, or the default, where no model was recognized, or only a ``part`` of what is run: its name and need."""
    unsized = best(findings, "model.unsized_id")
    gap = f"the size of `{unsized.value}` is not known" if unsized else "no model of a known size was recognized"
    gap = f"{part}, far less, so it is taken for a part" if part else gap
    first = headline(of_as_many(said, findings, count))
    if first is not None:
        is_sum = count > 1 and _is_over_cards(first, said)
        each = first.memory_gib / count if is_sum else first.memory_gib
        gib = whole_gib(each, each) if first.is_card else math.ceil(each)
        named = first.finding.value if first.is_card else f"{math.ceil(first.memory_gib)} GB"
        taken = f"the documentation's {named} was taken" + (f" as the sum over {count} cards" if is_sum else "")
        if first.is_card and first.weight <= WEIGHT_OF_NAMED_CARD:
            gib = min(gib, _beside(first.memory_gib))
            taken = f"{gib} GiB were assumed beside the documentation's {named}"
        why = f"{first.finding.why}, and {gap}"
        sure = sureness(findings, first)
        finding = Finding("hardware.vram_required_gb", str(gib), why, sure, first.finding.evidence)
        return MemoryNeed(gib, count, None, None, finding, (f"{gap}; {taken}",))
    where = (best(findings, "entry_point") or best(findings, "workload") or findings[0]).evidence
    default, whose = assumed_size(findings, trains=trains)
    why = f"no model of a known size was recognized; {default} GiB is the default for {whose}"
    finding = Finding("hardware.vram_required_gb", str(default), why, Confidence.LOW, where)
    return MemoryNeed(default, count, None, None, finding, (f"{gap}; {default} GiB were assumed",))


def _is_over_cards(amount: Statement, said: Sequence[Statement]) -> bool:
    """Whether an amount is the sum over several cards: "~160 GB, for example on 8 RTX 3090" is more than one that it names has."""
    where = amount.finding.evidence
    cards = [s.memory_gib for s in said if s.is_card and s.finding.evidence == where]
    return not amount.is_card and amount.memory_gib > LARGEST_CARD_GIB and 0 < max(cards, default=0) < amount.memory_gib


def _beside(card_gib: float) -> int:
    """Return whole GiB between what is assumed and a large card that is only named: who has one runs small things on it, too.

    What only cards of 20 GB would hold, which one cloud alone rents, is asked for as any card of 24 GB has it.
    """
    shared = math.ceil(float(DEFAULT_GIB) ** (1 - WEIGHT_OF_NAMED_CARD) * card_gib**WEIGHT_OF_NAMED_CARD)
    return ORDINARY_GIB if sold_gb(shared) in SELDOM_GB else shared
