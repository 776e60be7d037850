"""Cards that documentation names and nobody rents any more."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.named_cards import OLDER_CARDS_GB, find_named_card, named_card_gib


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA TITAN X (Pascal)", "TITAN-X"),
        ("GeForce GTX TITAN X", "GTX-TITAN-X"),
        ("titan xp", "TITAN-Xp"),
        ("Quadro P6000", "P6000"),
        ("gtx 1080", "GTX1080"),
        ("GTX 1080 Ti", "GTX1080Ti"),
        ("V100", "V100"),
        ("Titanic", None),
    ],
)
def test_cards_are_found_in_any_spelling(text, name):
    assert find_named_card(text) == name


def test_a_card_of_the_table_is_none_of_the_older_ones_and_has_the_memory_of_the_table():
    assert not set(OLDER_CARDS_GB) & set(accelerators())
    assert named_card_gib("V100") == accelerators()["V100"].memory_gib
    assert named_card_gib("TITAN-X") == 11.6
    with pytest.raises(KeyError):
        named_card_gib("TITANIC")
