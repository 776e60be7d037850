from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.gpus import (
    AcceleratorRequest,
    UnknownAccelerator,
    accelerators,
    find_accelerator,
    is_launchable,
    names_on,
    parse_accelerator,
    usable_gib,
)


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("4090", "RTX4090", None),
        ("rtx 4090", "RTX4090", None),
        ("NVIDIA GeForce RTX 4090", "RTX4090", None),
        ("a100 80gb", "A100-80GB", None),
        ("A100-80GB:2", "A100-80GB", 2),
        ("A100-SXM4", "A100-80GB-SXM", None),
        ("a100", "A100", None),
        ("A6000", "A6000", None),
        ("rtx a6000", "RTXA6000", None),
        ("rtx6000", "RTX6000", None),
        ("6000 ada", "RTX6000-Ada", None),
        ("h100 sxm5:8", "H100-SXM", 8),
        ("2080 ti", "RTX2080Ti", None),
        ("A4000", "RTXA4000", None),
    ],
)
def test_parse_accelerator_knows_what_people_write(text: str, name: str, count: int | None) -> None:
    found = parse_accelerator(text)
    assert isinstance(found, AcceleratorRequest)
    assert (found.accelerator.name, found.count) == (name, count)


@pytest.mark.parametrize("name", sorted(accelerators()))
def test_parse_accelerator_takes_every_name_of_the_table_in_any_case(name: str) -> None:
    for text in (name, name.lower(), name.upper()):
        found = find_accelerator(text)
        assert found is not None
        assert found.name == name


@pytest.mark.parametrize(
    ("text", "nearest", "words"),
    [
        ("RTX4O90", "RTX4090", "No accelerator"),
        ("H100:9", "H100:8", "at most 8"),
        ("A40:0", "A40:1", "no number of cards"),
        ("A40:two", "A40:1", "no number of cards"),
    ],
)
def test_parse_accelerator_names_the_nearest_where_nothing_fits(text: str, nearest: str, words: str) -> None:
    found = parse_accelerator(text)
    assert isinstance(found, UnknownAccelerator)
    assert nearest in found.did_you_mean
    assert words in found.what


@given(st.text(max_size=200))
def test_parse_accelerator_answers_any_text(text: str) -> None:
    assert isinstance(parse_accelerator(text), AcceleratorRequest | UnknownAccelerator)


def test_usable_gib_is_what_programs_can_allocate() -> None:
    table = accelerators()
    assert table["A40"].memory_gib == 45.0  # nvidia-smi prints 46068 MiB of the 48 GB card
    assert table["A100-80GB"].memory_gib == 79.2  # prints all 81920 MiB, of which programs get 1 % less
    assert usable_gib(192, None) == pytest.approx(186.2)
    assert all(0 < card.memory_gib <= card.marketed_gb for card in table.values())


def test_names_on_follows_a_card_to_other_clouds() -> None:
    assert names_on("lambda", "RTXA6000") == ("RTXA6000", "A6000")
    assert names_on("runpod", "A6000") == ("A6000", "RTXA6000")
    assert names_on("runpod", "A40") == ("A40",)
    for cloud in ("runpod", "lambda", "vast"):
        for name in accelerators():
            assert set(names_on(cloud, name)) <= set(accelerators())


def test_is_launchable_knows_names_that_skypilot_cannot_start() -> None:
    assert not is_launchable("runpod", "RTXPRO4000")
    assert is_launchable("runpod", "A40")
    assert is_launchable("lambda", "B300")
