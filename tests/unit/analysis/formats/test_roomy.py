from __future__ import annotations

import resource

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.roomy import roomy

MOST_FAULTS = 500


def leaf(number: int, _a: int = 1, _b: int = 2, _c: int = 3, _d: int = 4) -> int:
    return number


def calls_at_every_depth(depth: int) -> int:
    """Call a function often from each of so many depths: some of them are right before the end of a piece."""
    total = 0
    for number in range(1000):
        total += leaf(number)
    return total + calls_at_every_depth(depth - 1) if depth > 1 else total


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_a_loop_at_the_end_of_a_piece_asks_for_no_memory() -> None:
    before = faults()
    total = roomy(calls_at_every_depth)(500)
    assert total == 500 * sum(range(1000))
    assert faults() - before < MOST_FAULTS


def test_what_is_given_room_stays_what_it_is() -> None:
    assert analyze.__name__ == "analyze"
    assert "Return what the tree needs" in (analyze.__doc__ or "")
    with pytest.raises(TypeError, match="leaf"):
        roomy(leaf)()  # type: ignore[call-arg]  # what is asked wrongly is still said of the function itself
    assert roomy(leaf)(number=3) == 3
