"""Whether an interruptible machine is really cheaper: many catalogs repeat the price on demand, or say nothing."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.domain.offer import Candidate, Ladder

LEAST_SHARE = Decimal("0.8")
"""Of the price on demand: being interrupted costs hours of its own, so that a few percent less is no offer."""


def cheaper_spot(now: Ladder, spot: Ladder | None) -> Candidate | None:
    """Return the cheapest interruptible machine that has a price of its own and costs at least a fifth less than ``now``'s best."""
    if now.best is None or spot is None:
        return None
    real = (each for each in spot.candidates if each.price_usd_per_hour < each.offer.price_usd_per_hour)
    best = min(
        real, key=lambda each: (each.price_usd_per_hour, each.offer.cloud, each.offer.instance_type), default=None
    )
    is_worth_it = best is not None and best.price_usd_per_hour <= now.best.price_usd_per_hour * LEAST_SHARE
    return best if is_worth_it else None
