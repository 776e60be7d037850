"""Lambda's own interface, read: which machines it has at this moment, and where. Its key only, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gpu_lol_action.adapters.boxed_http import Ask, address_problem, as_json, exchange
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Stock, StockLevel, Stocks
from gpu_lol_action.domain.offer import Offer

HOME = "https://cloud.lambdalabs.com"
BOX = timedelta(seconds=8)
_MAX_REGIONS = 40


@dataclass(frozen=True, slots=True)
class LambdaApi:
    """Asks Lambda with the account's key; ``address`` names another server."""

    now: Callable[[], datetime]
    key: str = field(default="", repr=False)
    address: str = HOME

    def stock(self, offers: Iterable[Offer]) -> Stocks | Unanswered:
        """Return what is in stock of these offers; of a card that several machines have, whatever one has."""
        if not self.key:
            return Unanswered("it tells that only to a key, and none is at hand")
        problem = address_problem(self.address, is_secret_sent=True)
        if problem is not None:
            return Unanswered(problem)
        url, secret = f"{self.address}/api/v1/instance-types", {"Authorization": f"Bearer {self.key}"}
        reply = exchange(Ask("GET", url, {"Accept": "application/json"}, secret), BOX, self.now)
        if isinstance(reply, Unanswered):
            return reply
        if reply.status != 200:
            return Unanswered("it refuses the key" if reply.status in (401, 403) else f"it answered {reply.status}")
        document = as_json(reply.body)
        types = document.get("data") if isinstance(document, dict) else None
        if not isinstance(types, dict):
            return Unanswered("its answer lacks the machines")
        found: dict[tuple[str, int], Stock] = {}
        for offer in offers:
            row = types.get(offer.instance_type)
            if isinstance(row, dict):
                key, stock = (offer.accelerator, offer.accelerator_count), _stock(row)
                found[key] = stock if key not in found or found[key].level is StockLevel.NONE else found[key]
        return found


def _stock(row: dict[str, Any]) -> Stock:
    listed = row.get("regions_with_capacity_available")
    regions = (
        [place.get("name") for place in listed[:_MAX_REGIONS] if isinstance(place, dict)]
        if isinstance(listed, list)
        else []
    )
    names = tuple(
        name for name in regions if isinstance(name, str) and name.isascii() and name.isprintable() and len(name) <= 60
    )
    kind = row.get("instance_type")
    cents = kind.get("price_cents_per_hour") if isinstance(kind, dict) else None
    price = Decimal(cents) / 100 if isinstance(cents, int) and not isinstance(cents, bool) and cents > 0 else None
    return Stock(StockLevel.SOME, price, names) if names else Stock(StockLevel.NONE)
