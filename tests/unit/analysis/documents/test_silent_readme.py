"""Whether a text speaks of a card that is used."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.silent_readme import speaks_of_a_card


@pytest.mark.parametrize(
    "line",
    [
        "Ask a model at https://build.nvidia.com/ or write to us@nvidia.com.",
        "git clone https://github.com/NVIDIA/some-rails",
        '<img src="https://github.com/NVIDIA/some-rails/raw/main/gpu.png">',
        "Works with NVIDIA NIM and with NVIDIA AI Endpoints.",
    ],
)
def test_who_makes_cards_is_named_for_other_things_too(line: str) -> None:
    assert not speaks_of_a_card(line)


@pytest.mark.parametrize(
    "line",
    [
        "You need an NVIDIA card.",
        "Tested with NVIDIA drivers of last year.",
        "git clone https://github.com/NVIDIA/apex",
        "git clone https://github.com/NVIDIA/TransformerEngine",
        "git clone https://github.com/NVIDIA/FasterTransformer",
        "See docs.nvidia.com/cuda for what to install.",
        "NVIDIA NIM needs a GPU.",
    ],
)
def test_a_card_is_spoken_of_beside_its_maker(line: str) -> None:
    assert speaks_of_a_card(line)
