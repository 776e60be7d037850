"""What is asked of a card where a sum lies about one that everybody rents."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.placement import need_of
from gpu_lol_action.domain.memory import MemoryBreakdown, MemoryTerm


@pytest.mark.parametrize(
    ("expected_gib", "elastic_gib", "method", "need"),
    [
        (70.0, 0.0, "full", 79.0),  # the sum leaves room on the card, though its range does not
        (80.0, 60.0, "full", 79.0),  # most of it grows with a batch that somebody chose
        (80.0, 60.0, "lora", 79.0),
        (80.0, 10.0, "full", 97.0),  # weights and states are what they are
        (80.0, 60.0, "inference", 97.0),
        (95.0, 60.0, "full", 97.0),
    ],
)
def test_the_large_card_that_everybody_rents_is_asked_for(
    expected_gib: float, elastic_gib: float, method: str, need: float
) -> None:
    terms = (MemoryTerm("weights", expected_gib - elastic_gib, ""), MemoryTerm("logits", elastic_gib, ""))
    breakdown = MemoryBreakdown(terms, 47.0, expected_gib, 113.0, 97.0, method)
    assert need_of(breakdown) == need
