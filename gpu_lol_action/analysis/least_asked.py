"""The least that is asked for where the sum alone would say less: what is rented, and what a mere guess is good for.

A sum says what a run takes, not what it was meant for. Where documentation states no amount that agrees with it, two things
speak against a small answer:

- Several cards in one machine: those that are rented by the four and eight have 16 GB at the least (T4, V100), and who works
  on such a machine fills them. What then comes out smaller left something out: the images, the longer texts, the second model.
- A training whose model nothing names: the usual one of its family stands for it, the smallest that people start from. Nothing
  that was recognized so speaks for less than what is asked for where nothing was recognized at all.
"""

from __future__ import annotations

MANY_CARDS = 4
LEAST_OF_MANY_GIB = 16
DEFAULT_GIB = 12
"""What a small model of one's own needs, and what the smallest rented card (16 GB) offers with room."""


def least_asked(count: int, *, is_assumed: bool, trains: bool) -> tuple[int, str]:
    """Return the GiB per card below which nothing is asked for, and why in words; 0 and nothing where no bound holds."""
    if count >= MANY_CARDS:
        return LEAST_OF_MANY_GIB, f"machines with {count} cards have {LEAST_OF_MANY_GIB} GB on each at the least"
    if is_assumed and trains:
        return DEFAULT_GIB, f"the model is assumed, so no less than the default of {DEFAULT_GIB} GiB is asked for"
    return 0, ""
