"""Ask a cloud whether it accepts a key, and what is left in the account: one request in a box, nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from gpu_lol_action.adapters.boxed_http import Ask, Reply, address_problem, as_json, exchange
from gpu_lol_action.domain.checkup import Account
from gpu_lol_action.domain.lookup import Unanswered

BOX = timedelta(seconds=10)
RUNPOD, LAMBDA = "https://api.runpod.io", "https://cloud.lambdalabs.com"
_REFUSED = frozenset({401, 403})
_RUNPOD_QUERY = json.dumps({"query": "query { myself { id clientBalance currentSpendPerHr } }"}).encode()


@dataclass(frozen=True, slots=True)
class CloudAccounts:
    """Whom to ask for each cloud, with its key; ``addresses`` names another server for a cloud (rehearsals, proxies)."""

    now: Callable[[], datetime]
    keys: Mapping[str, str] = field(repr=False)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def ask(self) -> Mapping[str, Account | str]:
        """Return each cloud's account, or why it did not tell."""
        return {cloud: self._ask_one(cloud, key) for cloud, key in self.keys.items() if cloud in ("runpod", "lambda")}

    def _ask_one(self, cloud: str, key: str) -> Account | str:
        home = self.addresses.get(cloud) or (RUNPOD if cloud == "runpod" else LAMBDA)
        problem = address_problem(home, is_secret_sent=True)
        if problem is not None:
            return problem
        secret = {"Authorization": f"Bearer {key}"}
        if cloud == "runpod":
            ask = Ask("POST", f"{home}/graphql", {"Content-Type": "application/json"}, secret, _RUNPOD_QUERY)
        else:
            ask = Ask("GET", f"{home}/api/v1/instances", {"Accept": "application/json"}, secret)
        reply = exchange(ask, BOX, self.now)
        if isinstance(reply, Unanswered):
            return reply.what
        if reply.status in _REFUSED:
            return Account(is_accepted=False)
        if reply.status != 200:
            return f"it answered {reply.status}"
        return _runpod_account(reply) if cloud == "runpod" else Account(is_accepted=True)


def _runpod_account(reply: Reply) -> Account | str:
    document: Any = as_json(reply.body)
    data = document.get("data") if isinstance(document, dict) else None
    myself = data.get("myself") if isinstance(data, dict) else None
    if not isinstance(myself, dict):
        return "its answer lacks the account"
    return Account(True, _usd(myself.get("clientBalance")), _usd(myself.get("currentSpendPerHr")))


def _usd(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None
