"""What is assumed so that a run fits cards that are rented at all: each as a sentence, and batches and lengths that somebody would write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

AGAINST = "against what was read"
"""How every sentence on what was read and is not believed says so."""
FINE = 4
"""Binary digits to which a batch or a length that is assumed is round."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What is assumed so that a run fits: the field of its findings, and the sentence. ``is_against``: something was read there, and is not believed."""

    field: str
    words: str
    is_against: bool = False


def fewer_than(number: int, least: int) -> Iterator[int]:
    """Yield what is smaller than a number, the largest first, in steps of an eighth of the power of two below it and less.

    So near to what does not fit that more of a run takes no smaller machine; so round that somebody would write it.
    """
    while number > least:
        step = 2 ** max(0, (number - 1).bit_length() - FINE)
        number = (number - 1) // step * step
        yield max(number, least)
