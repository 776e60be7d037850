"""Each cloud's own interface behind one port: what is in stock where a cloud can say, and RunPod's templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gpu_lol_action.adapters import lambda_stock, runpod
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import StockAnswers, Stocks, Template
from gpu_lol_action.domain.offer import Offer


@dataclass(frozen=True, slots=True)
class CloudMarket:
    """Fulfils the ``Market`` port. ``keys`` and ``addresses`` by cloud."""

    now: Callable[[], datetime]
    keys: Mapping[str, str] = field(repr=False)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def stock(self, offers: Iterable[Offer]) -> StockAnswers:
        """Return what the clouds of these offers say of their stock; those that have no such interface are left out."""
        by_cloud: dict[str, list[Offer]] = {}
        for offer in offers:
            by_cloud.setdefault(offer.cloud, []).append(offer)
        answers: dict[str, Stocks | Unanswered] = {}
        if "runpod" in by_cloud:
            answers["runpod"] = self._runpod().stock(by_cloud["runpod"])
        if "lambda" in by_cloud:
            home = self.addresses.get("lambda") or lambda_stock.HOME
            answers["lambda"] = lambda_stock.LambdaApi(self.now, self.keys.get("lambda", ""), home).stock(
                by_cloud["lambda"]
            )
        return answers

    def templates(self) -> tuple[Template, ...] | Unanswered:
        """Return the templates of the RunPod account, or why they cannot be told."""
        return self._runpod().templates()

    def _runpod(self) -> runpod.RunPodApi:
        return runpod.RunPodApi(self.now, self.keys.get("runpod", ""), self.addresses.get("runpod") or runpod.HOME)
