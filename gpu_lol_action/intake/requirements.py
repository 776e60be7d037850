"""The word behind ``offers``: a card, a size of memory, or all; `RTX4090`, `A100-80GB:2`, `24GB`, `24GB:2`, `all`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpu_lol_action.domain.gpus import AcceleratorRequest, UnknownAccelerator, parse_accelerator

ALL = "all"
MAX_CARDS = 16
MAX_GIB = 1000
# A number of up to three digits is a size: there are cards called 4090, but none is rented that is called 24.
_SIZE = re.compile(r"(?:(\d{1,2})x)?(\d{1,3}(?:\.\d{1,2})?)(?:gi?b?)?\+?(?::(\d{1,2}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: a card or a size, with a count where one was written; neither means every card.

    ``is_as_sold``: the size is the one that a card is sold with (GB); else what programs can use of it (GiB).
    """

    accelerator: str | None = None
    memory_gib: float | None = None
    count: int | None = None
    is_as_sold: bool = False

    @property
    def is_all(self) -> bool:
        """Whether every card is asked for."""
        return self.accelerator is None and self.memory_gib is None


def read_requirements(word: str) -> Wanted | UnknownAccelerator:
    """Return what the word asks for, or what is wrong with it and the nearest names."""
    if word.lower() == ALL:
        return Wanted()
    size = _SIZE.fullmatch(word)
    if size is None:
        card = parse_accelerator(word)
        return Wanted(card.accelerator.name, None, card.count) if isinstance(card, AcceleratorRequest) else card
    if size[1] and size[3]:
        return UnknownAccelerator(word, "The number of cards stands there twice; write `24GB:2`.")
    gib, count = float(size[2]), int(size[1] or size[3] or 1)
    if not 0 < gib <= MAX_GIB or not 1 <= count <= MAX_CARDS:
        return UnknownAccelerator(word, f"No machine has {count} × {gib:g} GB.")
    return Wanted(None, gib, count, is_as_sold="i" not in word.lower())
