"""Cases for the answer to ``offers``: a size, what is in stock, nothing that fits, and a hostile cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Stock, StockAnswers, StockLevel
from gpu_lol_action.domain.offer import PriceSource, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers
from gpu_lol_action.render import comments
from gpu_lol_action.render.comments import ReplyTo
from gpu_lol_action.render.views_offers import OffersCase

NOW = datetime(2026, 11, 20, 14, 7, tzinfo=timezone.utc)
REPLY = ReplyTo(128, 2211)
LIVE = PriceSource("SkyPilot's published catalogs", NOW.date(), NOW - timedelta(minutes=12))
BAD = "``` </details> --> {{7*7}} @everyone <img src=x> | a | \u202egnp [x](javascript:alert(1)) \\\n# heading"
STOCK: StockAnswers = {
    "runpod": {
        ("RTXA5000", 1): Stock(StockLevel.NONE),
        ("A40", 1): Stock(StockLevel.HIGH, Decimal("0.41")),
        ("L4", 1): Stock(StockLevel.LOW, Decimal("0.49")),
    },
    "lambda": Unanswered("it tells that only to a key, and none is at hand"),
}


def _offers(wanted: Requirement, subject: str = "", stock: StockAnswers | None = None, *, is_live: bool = False) -> str:
    policy, command = Policy(), Command("offers", "/gpu-lol offers")
    source = replace(SNAPSHOT, per_cloud={**SNAPSHOT.per_cloud, "runpod": LIVE}) if is_live else SNAPSHOT
    wanted = replace(wanted, clouds=policy.clouds)
    ladder = rank_candidates(RankRequest(wanted, bundled_offers(), source, policy.lease))
    return comments.offers(OffersCase(subject, ladder, stock, policy, command, NOW), reply_to=REPLY)


def _hostile() -> str:
    policy, command = Policy(), Command("offers", f"/gpu-lol offers {BAD}", region=BAD[:60], cloud="runpod")
    offer = replace(bundled_offers()["runpod"][0], accelerator=BAD, instance_type=BAD)
    source = replace(SNAPSHOT, name=BAD, why=BAD, per_cloud={})
    wanted = Requirement(0.0, 1, accelerator=BAD, clouds=("runpod",))
    ladder = rank_candidates(RankRequest(wanted, {"runpod": (offer,)}, source, policy.lease))
    stock = {"runpod": Unanswered(BAD)}
    return comments.offers(OffersCase(BAD, ladder, stock, policy, command, NOW), reply_to=REPLY)


OFFERS_CASES: Mapping[str, Callable[[], str]] = {
    "offers": lambda: _offers(Requirement(24.0, 1, is_memory_as_sold=True), is_live=True),
    "offers_for_code": lambda: _offers(Requirement(41.0, 2), "this code"),
    "offers_in_stock": lambda: _offers(Requirement(24.0, 1, is_memory_as_sold=True), stock=STOCK),
    "offers_no_fit": lambda: _offers(Requirement(900.0, 1, is_memory_as_sold=True)),
    "offers_hostile": _hostile,
}
