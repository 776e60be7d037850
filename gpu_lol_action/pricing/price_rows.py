"""One row of a price table to an offer: the quirks of the published catalogs, each as a rule.

What the catalogs get wrong, as measured on SkyPilot 0.14.1's version 8 of them: RunPod writes gigabytes where MiB are meant,
Vast the total of all cards, others a card's; so memory comes from our table, and only Vast, which merges cards under one
name, is read. RunPod repeats the price as the spot price and Vast writes 0.00: neither is one. Some rows have no price, no
GPU, or a part of one.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

from gpu_lol_action.domain.gpus import find_accelerator, usable_gib
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.domain.records import record

MAX_USD_PER_HOUR = Decimal(10_000)
"""No machine that is rented costs more: a row that says so is a mistake, or meant to do harm."""
MAX_CARDS = 64
_MAX_NAME = 80

# Clouds that rent cards of several sizes under one name, and say each one's size.
_MERGING = frozenset({"vast"})


@record(frozen=True, slots=True)
class PriceRow:
    """A row as it was published, still text. ``card_gib`` is what it says of one card's memory, None where that means nothing."""

    cloud: str
    accelerator: str
    count: str
    instance_type: str
    price: str
    spot_price: str
    vcpus: str
    memory_gib: str
    card_gib: float | None = None
    regions: tuple[str, ...] = ()


def offer_of(row: PriceRow) -> Offer | None:
    """Return the row as an offer; None where no whole cards are rented, or none at a known price."""
    count, price = number(row.count), usd(row.price)
    if price is None or count is None or not count.is_integer() or not 1 <= count <= MAX_CARDS:
        return None
    if not _is_name(row.accelerator) or not _is_name(row.instance_type):
        return None
    return Offer(
        cloud=row.cloud,
        accelerator=row.accelerator,
        accelerator_count=int(count),
        instance_type=row.instance_type,
        price_usd_per_hour=price,
        spot_price_usd_per_hour=spot_usd(row.spot_price, price),
        memory_gib_per_gpu=_memory_gib(row),
        vcpus=number(row.vcpus),
        memory_gib=number(row.memory_gib),
        regions=row.regions,
    )


def number(text: str) -> float | None:
    """Return a number that is one, and not below zero; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def usd(text: str) -> Decimal | None:
    """Return a price in dollars an hour; None where none is known: nothing is rented for nothing."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() and 0 < value <= MAX_USD_PER_HOUR else None


def spot_usd(text: str, price: Decimal) -> Decimal | None:
    """Return the spot price where it is one: less than on demand, and more than nothing."""
    value = usd(text)
    return value if value is not None and value < price else None


def _memory_gib(row: PriceRow) -> float:
    """Return usable GiB per card: the table's, or what the row says where its name stands for several cards."""
    known, stated = find_accelerator(row.accelerator), row.card_gib or 0.0
    if known is None:
        return usable_gib(stated, None)
    if row.cloud in _MERGING and stated:
        return round(min(usable_gib(round(stated), stated * 1024), max(known.memory_gib, stated * 0.99)), 1)
    return known.memory_gib


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _MAX_NAME and text.isascii() and text.isprintable()
