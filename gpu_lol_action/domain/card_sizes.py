"""The sizes that cards are sold with: what people say ("a 24 GB card"), and what `vram_required_gb` is counted in.

What programs can use of a card is less than its name says, by a different part on each: an L4 offers 22.5 GiB of its 24 GB,
an RTX 3090 23.8. People, price lists, SkyPilot's catalogs and documentation all speak of the size as sold, and so does the
spec. What a run was computed to need stays in GiB that programs can allocate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import replace

from gpu_lol_action.domain.gpus import WHOLE_CARD_RESERVE, accelerators
from gpu_lol_action.domain.spec import Hardware

SIZES_GB = (8, 10, 12, 16, 20, 24, 32, 40, 48, 80, 96, 141, 180, 288)
"""Sizes that NVIDIA's cards are sold with, without those that one of these nearly is (11, 94); no cloud rents less than 8."""

SELDOM_GB = frozenset({20})
"""Sizes that hardly a cloud rents."""

FULL_GIB, ROOMIER_GB = 18, 24
"""Of a card of a size that is seldom rented, what fills it; and the size that is asked for instead."""

ORDINARY_GIB = 22
"""What every card that is sold with 24 GB offers to programs (an L4 the least): the largest that authors take for granted."""

LEAST_SHARE = 0.92
"""Of the size as sold: every NVIDIA card of the table offers at least as much (P4 7.4 of 8, B300 268.6 of 288)."""


def sold_gb(needed_gib: float) -> int:
    """Return the smallest size, as cards are sold, of which some card offers so many GiB to programs.

    Needs are rounded up to whole GiB, so up to one of them is rounding: 16 GiB fit a 16 GB card, which offers 15.8. More than
    any card has is returned as it is.
    """
    offered = _offered_gib()
    return next((size for size in SIZES_GB if offered[size] > needed_gib - 1), math.ceil(needed_gib))


def roomier_gb(needed_gib: float) -> int:
    """Return the size to ask for at least where a need would fill a card of a size that hardly a cloud rents; 0 for any other need."""
    return ROOMIER_GB if needed_gib >= FULL_GIB and sold_gb(needed_gib) in SELDOM_GB else 0


def whole_gib(gib: float, card_gib: float) -> int:
    """Return the whole GiB of a need that a card set; of all that it has, no fewer: 11 GB cards are none of the sizes."""
    whole = math.floor(gib)
    return math.ceil(gib) if gib == card_gib and sold_gb(whole) < gib else whole


def size_class_gb(asked_gb: float) -> int:
    """Return the size of the smallest card that somebody gets who asks for so many GB: 22 means 24."""
    return next((size for size in SIZES_GB if size >= asked_gb), math.ceil(asked_gb))


def least_usable_gib(size_gb: float) -> float:
    """Return what a card that is sold with so many GB offers to programs at least, in GiB."""
    return round(size_gb * LEAST_SHARE, 1)


def asking_for(hardware: Hardware, needed_gib: int | None, least_gb: int = 0) -> Hardware:
    """Return the machine with a need of so many GiB per GPU, in the size as sold; None: nothing says how many.

    ``least_gb`` is the smallest size that is asked for, however little is needed. What rounding put over the size's best card
    is taken off again, so that this card is not refused for it.
    """
    if needed_gib is None:
        return replace(hardware, vram_required_gb=None, needed_gib=None)
    own = sold_gb(needed_gib)
    size = max(own, least_gb)
    if own < size and own in SELDOM_GB:
        needed_gib = math.ceil(_offered_gib()[own])  # more than cards of that size offer, so that none is taken
    return replace(
        hardware, vram_required_gb=size, needed_gib=min(needed_gib, math.floor(_offered_gib().get(size, needed_gib)))
    )


@functools.cache
def _offered_gib() -> Mapping[int, float]:
    """Return what the best card of each size offers; of a size that the table has not, all but what the driver keeps."""
    cards = [card for card in accelerators().values() if card.is_nvidia]
    return {
        size: max(
            (card.memory_gib for card in cards if card.marketed_gb == size), default=size * (1 - WHOLE_CARD_RESERVE)
        )
        for size in SIZES_GB
    }
