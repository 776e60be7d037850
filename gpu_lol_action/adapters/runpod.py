"""RunPod's own interface, read: what is in stock, and the account's templates. One bounded question each, nothing is changed.

Shapes: SkyPilot 0.14.1's fetcher asks ``gpuTypes.lowestPrice`` for ``stockStatus`` (High, Medium, Low or null) and prices;
its teardown lists ``myself.podTemplates``. What is in stock RunPod tells anybody, templates only the account's key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gpu_lol_action.adapters.boxed_http import Ask, address_problem, as_json, exchange
from gpu_lol_action.domain.gpus import find_accelerator, names_on
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Stock, StockLevel, Stocks, Template
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.pricing.price_rows import usd

HOME = "https://api.runpod.io"
BOX = timedelta(seconds=8)
MAX_TEMPLATES = 500
_MAX_TEXT = 200
_LEVELS = {"high": StockLevel.HIGH, "medium": StockLevel.MEDIUM, "low": StockLevel.LOW}
_TEMPLATES = "query { myself { podTemplates { id name imageName containerDiskInGb containerRegistryAuthId } } }"


@dataclass(frozen=True, slots=True)
class RunPodApi:
    """Asks RunPod, with the account's key where there is one; ``address`` names another server (rehearsals)."""

    now: Callable[[], datetime]
    key: str = field(default="", repr=False)
    address: str = HOME

    def stock(self, offers: Iterable[Offer]) -> Stocks | Unanswered:
        """Return what is in stock of these offers' cards at their counts; only what SkyPilot rents (secure cloud)."""
        wanted = {(offer.accelerator, offer.accelerator_count) for offer in offers}
        counts = sorted({count for _name, count in wanted})
        parts = " ".join(
            f"c{count}: lowestPrice(input: {{gpuCount: {count}, secureCloud: true}}) {{ stockStatus uninterruptablePrice }}"
            for count in counts
        )
        answer = self._ask(f"query {{ gpuTypes {{ id secureCloud {parts} }} }}")
        if isinstance(answer, Unanswered):
            return answer
        types = answer.get("gpuTypes")
        if not isinstance(types, list):
            return Unanswered("its answer lacks the list of GPUs")
        rows = {name: row for row in types if isinstance(row, dict) for name in _names(row)}
        return {(name, count): _stock(rows[name], count) for name, count in sorted(wanted) if name in rows}

    def templates(self) -> tuple[Template, ...] | Unanswered:
        """Return the account's templates, in its order."""
        if not self.key:
            return Unanswered("no RunPod key is at hand")
        answer = self._ask(_TEMPLATES)
        if isinstance(answer, Unanswered):
            return answer
        myself = answer.get("myself")
        rows = myself.get("podTemplates") if isinstance(myself, dict) else None
        if not isinstance(rows, list):
            return Unanswered("its answer lacks the templates")
        found = (_template(row) for row in rows[:MAX_TEMPLATES] if isinstance(row, dict))
        return tuple(template for template in found if template is not None)

    def _ask(self, query: str) -> dict[str, Any] | Unanswered:
        problem = address_problem(self.address, is_secret_sent=bool(self.key))
        if problem is not None:
            return Unanswered(problem)
        secret = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        body = json.dumps({"query": query}).encode()
        ask = Ask("POST", f"{self.address}/graphql", {"Content-Type": "application/json"}, secret, body)
        reply = exchange(ask, BOX, self.now)
        if isinstance(reply, Unanswered):
            return reply
        if reply.status in (401, 403):
            return Unanswered("it refuses the key" if self.key else "it tells that only to a key")
        if reply.status != 200:
            return Unanswered(f"it answered {reply.status}")
        document = as_json(reply.body)
        data = document.get("data") if isinstance(document, dict) else None
        return data if isinstance(data, dict) else Unanswered("it refused the question")


def _names(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the names under which SkyPilot rents a GPU type of RunPod, whose id is what nvidia-smi prints or near it."""
    card = find_accelerator(str(row.get("id", ""))[:_MAX_TEXT])
    return names_on("runpod", card.name) if card is not None else ()


def _stock(row: dict[str, Any], count: int) -> Stock:
    lowest = row.get(f"c{count}")
    if not isinstance(lowest, dict) or row.get("secureCloud") is False:
        return Stock(StockLevel.NONE)
    level = _LEVELS.get(str(lowest.get("stockStatus") or "").lower(), StockLevel.NONE)
    # Whether the price for several cards is that of all of them or of one, nothing that was read says: it is left out.
    is_priced = level is not StockLevel.NONE and count == 1
    return Stock(level, _price(lowest.get("uninterruptablePrice")) if is_priced else None)


def _price(value: object) -> Decimal | None:
    """Return a price of the answer in dollars an hour; None where it says none."""
    return usd(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _template(row: dict[str, Any]) -> Template | None:
    texts = [row.get(name) for name in ("id", "name", "imageName")]
    if not all(isinstance(text, str) and 0 < len(text) <= _MAX_TEXT and text.isprintable() for text in texts):
        return None
    disk = row.get("containerDiskInGb")
    size = disk if isinstance(disk, int) and not isinstance(disk, bool) and disk > 0 else None
    return Template(str(texts[0]), str(texts[1]), str(texts[2]), size, bool(row.get("containerRegistryAuthId")))
