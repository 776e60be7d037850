"""What the provider itself says, asked beside gpu-lol: its list of machines, and the account's balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx

HOME = "https://api.runpod.io"


@dataclass(frozen=True)
class RunPod:
    """RunPod's GraphQL, or that of a stand-in."""

    key: str = field(repr=False)
    home: str = HOME

    def ask(self, query: str) -> dict[str, Any]:
        """Return the answer's data. Raises where it does not answer."""
        headers = {"Authorization": f"Bearer {self.key}", "User-Agent": "gpu-lol-live"}
        answer = httpx.post(f"{self.home}/graphql", json={"query": query}, headers=headers, timeout=30)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()["data"]
        return found

    def machines(self) -> list[str]:
        """Names of all machines of the account."""
        return [
            str(pod["name"])
            for pod in self.ask("query { myself { pods { id name desiredStatus } } }")["myself"]["pods"]
        ]

    def balance_usd(self) -> Decimal | None:
        """What is left in the account; None where that is not told."""
        balance = self.ask("query { myself { clientBalance } }")["myself"].get("clientBalance")
        return Decimal(str(balance)) if isinstance(balance, int | float) else None
