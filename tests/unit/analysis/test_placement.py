"""What is asked of a card where a sum lies about one that everybody rents."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.placement import need_of
from gpu_lol_action.domain.memory import MemoryBreakdown

SET_ASIDE = "one sample at a time is assumed against what was read: no card holds the run otherwise"
FILLED_IN = "16-bit numbers are assumed: nothing says otherwise, and more or larger cards would be needed without it"


@pytest.mark.parametrize(
    ("expected_gib", "assumed", "need"),
    [
        (70.0, (), 79.0),  # the sum leaves room on the card, though its range does not
        (80.0, (), 97.0),
        (80.0, (FILLED_IN,), 97.0),
        (80.0, (FILLED_IN, SET_ASIDE), 79.0),  # what it says of larger cards was wrong already
        (110.0, (SET_ASIDE,), 97.0),
    ],
)
def test_the_large_card_that_everybody_rents_is_asked_for(
    expected_gib: float, assumed: tuple[str, ...], need: float
) -> None:
    breakdown = MemoryBreakdown((), 47.0, expected_gib, 113.0, 97.0, "full")
    assert need_of(breakdown, assumed) == need
