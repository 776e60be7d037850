"""The answer to a memory question as a view model and as JSON: the sum, its terms, what was assumed, the cards that fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.what_if import WhatIf
from gpu_lol_action.estimation.vram import GB, GIB, VramQuestion
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import BillingView, accelerator_label
from gpu_lol_action.render.views_evidence import CodePlace, memory_chart
from gpu_lol_action.render.views_price import source_view
from gpu_lol_action.render.views_what_ifs import WhatIfsView, what_ifs_view

MOST_CARDS_SHOWN = 8
NOWHERE = CodePlace("", "", "")
_BASIS_COLUMNS = 80  # no place in code stands behind it here
_METHODS = {
    "inference": "inference", "lora": "LoRA", "qlora": "QLoRA", "full": "full fine-tuning", "pretrain": "pre-training",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class EstimateCase:
    """A question with its answer. ``spread``: the same run divided over more cards, where one card is not enough.

    ``what_ifs`` are configurations that would do with a cheaper machine; ``shows_all`` of them, and not the first few.
    """

    question: VramQuestion
    breakdown: MemoryBreakdown
    assumed: tuple[str, ...]
    ladder: Ladder
    lease: timedelta
    now: datetime
    spread: VramQuestion | None = None
    spread_breakdown: MemoryBreakdown | None = None
    what_ifs: tuple[WhatIf, ...] = ()
    shows_all: bool = False


@dataclass(frozen=True, slots=True)
class CardView:
    """One machine that has the memory."""

    machine: Safe
    cloud: str
    price: Safe
    usable: Safe
    spare: Safe


@dataclass(frozen=True, slots=True)
class EstimateView:
    """The answer: memory per card, its terms as bars, what was assumed, and the cards."""

    marker: Safe
    model: str
    method: Safe
    expected: Safe
    between: Safe
    required: Safe
    per: Safe
    chart: str
    notes: tuple[str, ...]
    assumed: str
    spread: Safe
    cards: tuple[CardView, ...]
    what_ifs: WhatIfsView
    others: Safe
    source: str
    as_of: Safe
    billing: BillingView


def estimate_view(case: EstimateCase, marker: Safe, billing: BillingView) -> EstimateView:
    """Return the view; cards by price, each accelerator once per cloud."""
    found, count = case.breakdown, case.question.gpu_count
    candidates = _distinct(case.ladder.candidates)
    spread = Safe("")
    source, as_of = source_view(case.ladder, case.now.date())
    if case.spread is not None and case.spread_breakdown is not None:
        need = formats.gib(case.spread_breakdown.required_gib)
        spread = Safe(f"{case.spread.gpu_count} cards with {need} each, {case.spread.sharding.value}")
    return EstimateView(
        marker=marker,
        model=case.question.model.name,
        method=Safe(_METHODS[found.method]),
        expected=formats.gib(found.expected_gib),
        between=formats.gib_range(found.low_gib, found.high_gib),
        required=formats.gib(found.required_gib),
        per=Safe(f" on each of {count} cards" if count > 1 else ""),
        chart=memory_chart(found, _BASIS_COLUMNS),
        notes=found.notes,
        assumed=", ".join(case.assumed),
        spread=spread,
        cards=tuple(_card(each, case.ladder) for each in candidates[:MOST_CARDS_SHOWN]),
        what_ifs=what_ifs_view(case.what_ifs, NOWHERE, has_offer=bool(candidates), shows_all=case.shows_all),
        others=Safe(
            f"{len(candidates) - MOST_CARDS_SHOWN} dearer ones fit too · " if len(candidates) > MOST_CARDS_SHOWN else ""
        ),
        source=source,
        as_of=as_of,
        billing=billing,
    )


def estimate_json(case: EstimateCase) -> dict[str, object]:
    """Return the answer as JSON: sizes in GiB (2**30 bytes) and, of the sums, in GB (1e9 bytes) too; prices as text."""
    found, question = case.breakdown, case.question
    sums = {
        "low": found.low_gib,
        "expected": found.expected_gib,
        "high": found.high_gib,
        "required": found.required_gib,
    }
    return {
        "model": question.model.name,
        "parameters_b": question.model.parameters_b,
        "method": "full_ft" if found.method == "full" else found.method,
        "gpu_count": question.gpu_count,
        **{f"{name}_gib": round(size, 2) for name, size in sums.items()},
        **{f"{name}_gb": round(size * GIB / GB, 2) for name, size in sums.items()},
        "terms": [{"name": term.name, "gib": term.gib, "basis": term.basis} for term in found.terms],
        "assumed": list(case.assumed),
        "notes": list(found.notes),
        "divided_over": case.spread.gpu_count if case.spread is not None else None,
        "gpus": [
            {
                "accelerator": each.offer.accelerator,
                "count": each.offer.accelerator_count,
                "cloud": each.offer.cloud,
                "usable_gib": each.offer.memory_gib_per_gpu,
                "usd_per_hour": str(each.price_usd_per_hour),
            }
            for each in _distinct(case.ladder.candidates)
        ],
        "what_ifs": [
            {
                "change": each.alternative.words,
                "setting": each.alternative.setting,
                "costs": each.alternative.costs,
                "expected_gib": each.alternative.expected_gib,
                "accelerator": each.candidate.offer.accelerator,
                "count": each.candidate.offer.accelerator_count,
                "usd_per_hour": str(each.candidate.price_usd_per_hour),
                "saves_usd_per_hour": str(each.saves_usd_per_hour) if each.saves_usd_per_hour is not None else None,
            }
            for each in case.what_ifs
        ],
        "prices": {"source": case.ladder.source.name, "as_of": case.ladder.source.as_of.isoformat()},
    }


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the cheapest offer of each accelerator and cloud."""
    found: dict[tuple[str, str], Candidate] = {}
    for each in candidates:
        found.setdefault((each.offer.cloud, each.offer.accelerator), each)
    return list(found.values())


def _card(candidate: Candidate, ladder: Ladder) -> CardView:
    offer = candidate.offer
    spare = offer.memory_gib_per_gpu - ladder.requirement.memory_gib_per_gpu
    return CardView(
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.usd_per_hour(candidate.price_usd_per_hour),
        usable=formats.gib(offer.memory_gib_per_gpu),
        spare=formats.gib(spare),
    )
