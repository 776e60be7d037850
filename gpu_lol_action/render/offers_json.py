"""The answer to ``offers`` for programs: money is text in US dollars, and what is not known is null."""

from __future__ import annotations

from typing import Any

from gpu_lol_action.domain.market import Stock, StockAnswers
from gpu_lol_action.domain.offer import Candidate, Ladder, Offer
from gpu_lol_action.render.views_offers import OffersCase, stock_of


def offers_json(case: OffersCase) -> dict[str, Any]:
    """Return the answer for programs; money is text in US dollars, null where it is not known."""
    ladder, lease = case.ladder, case.command.lease or case.policy.lease
    value = ladder.best_value(case.policy.max_price_usd_per_hour)
    wanted = ladder.requirement
    return {
        "requirement": {
            "accelerator": wanted.accelerator,
            "gpu_count": wanted.gpu_count,
            "memory_gib_per_gpu": wanted.memory_gib_per_gpu or None,
            "is_memory_as_sold": wanted.is_memory_as_sold,
            "clouds": list(wanted.clouds),
            "region": wanted.region,
            "spot": wanted.use_spot,
        },
        "currency": "USD",
        "lease_hours": round(lease.total_seconds() / 3600, 4),
        "prices": {cloud: _source_json(ladder, cloud) for cloud in wanted.clouds},
        "speeds_compared_by": ladder.compared_by,
        "offers": [_offer_json(each, case.stock) for each in ladder.candidates],
        "cheapest_per_hour": _name_json(ladder.best),
        "cheapest_per_work": _name_json(value),
        "rejected": [
            {
                **_name_of(each.offer),
                "price_usd_per_hour": str(each.offer.price_usd_per_hour) if each.offer.price_usd_per_hour > 0 else None,
                "reason": each.reason,
            }
            for each in ladder.rejected
        ],
    }


def _source_json(ladder: Ladder, cloud: str) -> dict[str, Any]:
    source = ladder.source.of(cloud)
    asked = source.asked_at.isoformat() if source.asked_at else None
    return {"source": source.name, "as_of": source.as_of.isoformat(), "asked_at": asked, "why": source.why or None}


def _offer_json(candidate: Candidate, stock: StockAnswers | None) -> dict[str, Any]:
    offer, found = candidate.offer, stock_of(stock, candidate.offer) if stock else None
    speed = candidate.relative_speed
    return {
        **_name_of(offer),
        "memory_gib_per_gpu": offer.memory_gib_per_gpu,
        "vcpus": offer.vcpus,
        "memory_gib": offer.memory_gib,
        "regions": list(offer.regions),
        "price_usd_per_hour": str(candidate.price_usd_per_hour),
        "lease_usd": str(candidate.lease_usd),
        "relative_speed": round(speed, 3) if speed is not None else None,
        "why": candidate.why,
        "available": None if found is None else _stock_json(found),
    }


def _stock_json(found: Stock) -> dict[str, Any]:
    price = found.price_usd_per_hour
    return {
        "level": found.level.value,
        "price_usd_per_hour": str(price) if price is not None else None,
        "regions": list(found.regions),
    }


def _name_json(candidate: Candidate | None) -> dict[str, Any] | None:
    return (
        None
        if candidate is None
        else {**_name_of(candidate.offer), "price_usd_per_hour": str(candidate.price_usd_per_hour)}
    )


def _name_of(offer: Offer) -> dict[str, Any]:
    return {
        "cloud": offer.cloud,
        "accelerator": offer.accelerator,
        "count": offer.accelerator_count,
        "instance_type": offer.instance_type,
    }
