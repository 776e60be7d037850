"""The text of a published SkyPilot catalog to rows of prices: one for each machine and price, with the regions of both."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace

from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.pricing.price_rows import PriceRow, number, offer_of

READABLE_CLOUDS = ("runpod", "lambda", "vast", "nebius")
"""Clouds whose catalog is one file of whole machines, small enough to be asked for while somebody waits.

AWS's, Azure's and GCP's are tens of megabytes, and a price of GCP is the sum of two rows: their bundled samples are used.
"""
MAX_ROWS = 50_000
_MAX_REGION = 60
_COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region")
_TOTAL = re.compile(r"'TotalGpuMemoryInMiB': *(\d{1,9})")
# What makes a row an offer of its own. Vast's description of the cards counts too: it tells merged ones apart.
_KEY = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "vCPUs", "MemoryGiB", "GpuInfo")


class CatalogError(ValueError):
    """A text that is no catalog of GPU machines; the message says in one clause what it lacks."""


def read_catalog(cloud: str, text: str) -> tuple[Offer, ...]:
    """Return the offers of a cloud's catalog, in its order. Raises CatalogError where it has none that can be read."""
    offers = tuple(offer for row in read_rows(cloud, text) if (offer := offer_of(row)) is not None)
    if not offers:
        raise CatalogError("it names no machine with a GPU and a price")
    return offers


def read_rows(cloud: str, text: str) -> tuple[PriceRow, ...]:
    """Return the GPU rows of a catalog, those that differ in nothing but their region as one.

    Raises CatalogError where a column lacks or there are too many rows.
    """
    rows: dict[tuple[str, ...], PriceRow] = {}
    places: dict[tuple[str, ...], dict[str, None]] = {}
    table = csv.reader(io.StringIO(text, newline=""))
    try:
        columns = {name: index for index, name in enumerate(next(table, []))}
        lacking = [name for name in _COLUMNS if name not in columns]
        if lacking:
            raise CatalogError(f"it lacks the column {lacking[0]}")
        parts = [columns[name] for name in _KEY if name in columns]
        # Ten thousand rows are read while somebody waits: what is the same for all regions is read once.
        for number_of_row, cells in enumerate(table):
            if number_of_row >= MAX_ROWS:
                raise CatalogError(f"it has more than {MAX_ROWS} rows")
            if len(cells) != len(columns) or not cells[columns["AcceleratorName"]]:
                continue
            key = tuple([cells[index] for index in parts])
            if key not in rows:
                rows[key] = _row(cloud, dict(zip(columns, cells, strict=True)))
                places[key] = {}
            places[key][cells[columns["Region"]]] = None
    except csv.Error as error:
        raise CatalogError("it is no table") from error
    return tuple(replace(row, regions=_regions(places[key])) for key, row in rows.items())


def _regions(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if 0 < len(name) <= _MAX_REGION and name.isprintable())


def _row(cloud: str, cells: dict[str, str]) -> PriceRow:
    return PriceRow(
        cloud=cloud,
        accelerator=cells["AcceleratorName"],
        count=cells["AcceleratorCount"],
        instance_type=cells["InstanceType"],
        price=cells.get("Price", ""),
        spot_price=cells.get("SpotPrice", ""),
        vcpus=cells.get("vCPUs", ""),
        memory_gib=cells.get("MemoryGiB", ""),
        card_gib=_card_gib(cloud, cells),
    )


def _card_gib(cloud: str, cells: dict[str, str]) -> float | None:
    """Return one card's memory by the row; only Vast's rows say it in a way that can be relied upon: the total of all."""
    count, total = number(cells["AcceleratorCount"]), _TOTAL.search(cells.get("GpuInfo", ""))
    if cloud != "vast" or not count or total is None:
        return None
    return round(int(total[1]) / count / 1024, 2)
