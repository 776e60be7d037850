"""A card and an amount in one sentence: which of the cards of that name it is, and what is the sum of several."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Evidence


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # V100 were sold with 16 and 32 GB, A100 with 40 and 80.
        ("We trained on 2 V100 GPUs, each has 32 GB of memory.", [("memory_gb", "32"), ("card", "V100-32GB")]),
        (
            "It was trained on 2 V100 GPUs, so you need 64 GB of GPU memory to train it.",
            [("card", "V100-32GB")],
        ),
        ("It was trained on 4 A100 GPUs, which is 160 GB of GPU memory.", [("card", "A100")]),
        ("Trained on 4 RTX 3090, so 96 GB of GPU memory are used.", [("card", "RTX3090")]),
        # An amount that is of no card with that name stays what it is.
        ("We trained on 2 V100 GPUs; it needs 12 GB of GPU memory.", [("memory_gb", "12"), ("card", "V100")]),
        # One card, one amount: no sum.
        ("Trained on one RTX 3090, it needs 20 GB of GPU memory.", [("memory_gb", "20"), ("card", "RTX3090")]),
    ],
)
def test_an_amount_beside_cards(line: str, expected: list[tuple[str, str]]) -> None:
    found = statements_of(line, "", Evidence("README.md", 1))
    said = [(f.field.rpartition(".")[2], f.value) for f in found if not f.field.endswith("gpu_count")]
    assert said == expected
