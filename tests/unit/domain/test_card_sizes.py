from __future__ import annotations

import math

import pytest

from gpu_lol_action.domain.card_sizes import (
    LEAST_SHARE,
    SIZES_GB,
    asking_for,
    least_usable_gib,
    size_class_gb,
    sold_gb,
    whole_gib,
)
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.spec import Hardware


@pytest.mark.parametrize(
    ("needed_gib", "size_gb"),
    [(1, 8), (7, 8), (9, 10), (11, 12), (13, 16), (16, 16), (17, 20), (23, 24), (24, 24), (25, 32), (46, 48), (51, 80)],
)
def test_a_need_becomes_the_smallest_size_that_holds_it(needed_gib: int, size_gb: int) -> None:
    assert sold_gb(needed_gib) == size_gb


def test_what_no_card_has_stays_as_it_is() -> None:
    assert sold_gb(400) == 400
    assert asking_for(Hardware(), 400).needed_gib == 400


@pytest.mark.parametrize("size", SIZES_GB)
def test_a_size_is_its_own_class_and_holds_what_its_best_card_offers(size: int) -> None:
    assert size_class_gb(size) == size
    best = max((c.memory_gib for c in accelerators().values() if c.is_nvidia and c.marketed_gb == size), default=None)
    assert best is None or sold_gb(math.floor(best)) == size
    # Rounding alone refuses no card of the size; of the largest, a whole GiB is less than what the driver keeps.
    assert best is None or size > 80 or (asking_for(Hardware(), size).needed_gib or 0) <= best


def test_who_asks_for_22_gets_a_24_gb_card() -> None:
    assert size_class_gb(22) == 24


def test_every_card_offers_the_least_share_of_its_size() -> None:
    for card in accelerators().values():
        if card.is_nvidia:
            assert card.memory_gib >= LEAST_SHARE * card.marketed_gb, card.name
            assert card.memory_gib >= least_usable_gib(card.marketed_gb) - 0.05, card.name


def test_the_need_is_no_part_of_what_a_machine_is() -> None:
    assert asking_for(Hardware(), 21) == Hardware(vram_required_gb=24)
    assert asking_for(Hardware(vram_required_gb=24), None) == Hardware()


@pytest.mark.parametrize(
    ("gib", "card_gib", "size_gb"),
    [(10.9, 10.9, 12), (10.5, 10.9, 10), (15.8, 15.8, 16), (22.5, 22.5, 24), (9.8, 9.8, 10)],
)
def test_what_ran_on_an_11_gb_card_is_not_given_10(gib: float, card_gib: float, size_gb: int) -> None:
    assert sold_gb(whole_gib(gib, card_gib)) == size_gb
