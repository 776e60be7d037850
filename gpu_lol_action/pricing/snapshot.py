"""The bundled price snapshot as offers: what stands behind every proposal's spec, so that same checkout gives same bytes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import date

from gpu_lol_action.domain.offer import Offer, OfferTable, PriceList, PriceSource
from gpu_lol_action.domain.tables import table_rows
from gpu_lol_action.pricing.price_rows import PriceRow, number, offer_of

SNAPSHOT_NAME = "bundled snapshot of SkyPilot's catalogs"


@functools.cache
def bundled_offers() -> OfferTable:
    """Return the snapshot's offers per cloud, in the file's order.

    Regions stay open: the snapshot names one per row as an example, which says nothing of where else it is rented.
    """
    table: dict[str, list[Offer]] = {}
    for row in table_rows("gpu_prices.csv"):
        offer = offer_of(snapshot_row(row))
        if offer is not None:
            table.setdefault(offer.cloud, []).append(offer)
    return {cloud: tuple(offers) for cloud, offers in table.items()}


def snapshot_row(row: Mapping[str, str]) -> PriceRow:
    """Return a row of the snapshot's file."""
    return PriceRow(
        cloud=row["cloud"],
        accelerator=row["accelerator"],
        count=row["count"],
        instance_type=row["instance_type"],
        price=row["price_usd_per_hour"],
        spot_price=row["spot_price_usd_per_hour"],
        vcpus=row["vcpus"],
        memory_gib=row["memory_gib"],
        card_gib=number(row["gpu_memory_gib"]) or None,
    )


def _source() -> PriceSource:
    """Return the snapshot as a source: by cloud of the day that its rows are of, altogether of the newest."""
    days = {row["cloud"]: date.fromisoformat(row["as_of"]) for row in table_rows("gpu_price_days.csv")}
    per_cloud = {cloud: PriceSource(SNAPSHOT_NAME, day) for cloud, day in days.items()}
    return PriceSource(SNAPSHOT_NAME, max(days.values()), per_cloud=per_cloud)


SNAPSHOT = _source()


def bundled_prices() -> PriceList:
    """Return the snapshot as a price list."""
    return PriceList(bundled_offers(), SNAPSHOT)
