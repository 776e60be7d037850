"""The bundled price snapshot as offers: what stands behind every proposal, so that same checkout gives same bytes."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from importlib import resources

from gpu_lol_action.domain.gpus import find_accelerator, usable_gib
from gpu_lol_action.domain.offer import Offer, OfferTable, PriceSource

# The day on which the newest rows (RunPod, Lambda) of the snapshot were taken from SkyPilot's published catalogs.
SNAPSHOT = PriceSource(name="bundled snapshot of SkyPilot's catalogs", as_of=date(2026, 9, 1))

# Catalogs in which spot prices mean nothing: RunPod repeats the price, Vast writes 0.00, Lambda has no spot.
CLOUDS_WITHOUT_SPOT_PRICE = frozenset({"runpod", "vast", "lambda"})


@functools.cache
def bundled_offers() -> OfferTable:
    """Return the snapshot's offers per cloud, in the file's order.

    Regions stay open: the snapshot names one per row as an example, which says nothing of where else it is rented.
    """
    text = resources.files("gpu_lol_action").joinpath("data/gpu_prices.csv").read_text(encoding="utf-8")
    table: dict[str, list[Offer]] = {}
    for row in csv.DictReader(text.splitlines()):
        offer = _offer(row)
        if offer is not None:
            table.setdefault(offer.cloud, []).append(offer)
    return {cloud: tuple(offers) for cloud, offers in table.items()}


def _offer(row: Mapping[str, str]) -> Offer | None:
    """Return the row as an offer; None where no count of whole cards is rented or no price is known."""
    count = float(row["count"] or 0)
    if count < 1 or not count.is_integer() or not row["price_usd_per_hour"]:
        return None
    cloud = row["cloud"]
    spot = Decimal(row["spot_price_usd_per_hour"]) if row["spot_price_usd_per_hour"] else None
    return Offer(
        cloud=cloud,
        accelerator=row["accelerator"],
        accelerator_count=int(count),
        instance_type=row["instance_type"],
        price_usd_per_hour=Decimal(row["price_usd_per_hour"]),
        spot_price_usd_per_hour=None if cloud in CLOUDS_WITHOUT_SPOT_PRICE else spot,
        memory_gib_per_gpu=_memory_gib(row),
        vcpus=float(row["vcpus"]) if row["vcpus"] else None,
        memory_gib=float(row["memory_gib"]) if row["memory_gib"] else None,
    )


def _memory_gib(row: Mapping[str, str]) -> float:
    """Return usable GiB per card: the table's, or less where the row itself says so (Vast mixes cards under one name)."""
    stated = float(row["gpu_memory_gib"]) if row["gpu_memory_gib"] else 0.0
    known = find_accelerator(row["accelerator"])
    if known is None:
        return usable_gib(stated, None)
    if row["cloud"] == "vast" and stated:
        return round(min(usable_gib(round(stated), stated * 1024), max(known.memory_gib, stated * 0.99)), 1)
    return known.memory_gib
