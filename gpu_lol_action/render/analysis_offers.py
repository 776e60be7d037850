"""The few offers that matter to a reader: the cheapest that fit, and the near misses that cost less."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from gpu_lol_action.domain.offer import Ladder, Rejected
from gpu_lol_action.render.screen import Column, Screen, table
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.views_evidence import OfferView, offer_view, rejected_view
from gpu_lol_action.render.views_proposal import ProposalCase

MAX_FITTING = 4
MAX_MISSES = 3
MAX_MISSES_WITHOUT_OFFER = 8
_COLUMNS = (
    Column(turn=3, least=12),
    Column("dim", turn=2, least=6, is_optional=True),
    Column(is_right=True),
    Column("dim", turn=1, least=14),
)


def near_misses(ladder: Ladder) -> tuple[Rejected, ...]:
    """Return why not something cheaper: one rejected offer per card, with cards enough, the largest memory first."""
    need = max(ladder.requirement.gpu_count, 1)
    limit = ladder.best.price_usd_per_hour if ladder.best else None
    nearest: dict[str, Rejected] = {}
    taken = {candidate.offer.accelerator for candidate in ladder.candidates}
    for each in sorted(ladder.rejected, key=lambda rejected: _rank(rejected, need)):
        offer = each.offer
        is_cheaper = limit is None or Decimal(0) < offer.price_usd_per_hour < limit
        if offer.accelerator_count >= need and is_cheaper and offer.accelerator not in taken:
            nearest.setdefault(offer.accelerator, each)
    return tuple(nearest.values())[: MAX_MISSES if ladder.best else MAX_MISSES_WITHOUT_OFFER]


def _rank(rejected: Rejected, need: int) -> tuple[bool, float, Decimal, str, str]:
    offer = rejected.offer
    is_larger = offer.accelerator_count > need
    return is_larger, -offer.memory_gib_per_gpu, offer.price_usd_per_hour, offer.cloud, offer.instance_type


def offer_lines(case: ProposalCase, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the offers as lines; ``is_verbose``: all of them."""
    ladder = case.ladder
    if not ladder.candidates and not ladder.rejected:
        return []
    fitting = ladder.candidates if is_verbose else ladder.candidates[:MAX_FITTING]
    misses = ladder.rejected if is_verbose else near_misses(ladder)
    rows = [_row(offer_view(each)) for each in fitting]
    rows += [_row(rejected_view(each, case.policy.lease), "❌ ") for each in misses]
    note = f"{len(ladder.candidates)} fit, {len(ladder.rejected)} do not"
    note += "" if is_verbose else "; all: --verbose"
    return [screen.paint("Offers", "bold") + screen.paint(f"  {note}", "dim"), *table(rows, _COLUMNS, screen)]


def _row(view: OfferView, mark: str = "") -> Sequence[str]:
    return str(view.machine), visible(view.cloud, 30), str(view.price), mark + visible(view.note, 200)
