"""Cards as documentation names them: those of the accelerator table, and older ones that no cloud rents any more.

The README of a famous older repository says `trained on a TITAN X`. Nobody can rent one, but what fitted on it needs no more
than its memory. Sizes are those that NVIDIA sold the cards with.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from gpu_lol_action.domain.gpus import UNMEASURED_RESERVE, accelerators, find_accelerator
from gpu_lol_action.domain.patterns import regex

OLDER_CARDS_GB: Mapping[str, int] = {
    "GTX970": 4, "GTX980": 4, "GTX980Ti": 6, "GTX1060": 6, "GTX1070": 8, "GTX1070Ti": 8, "GTX1080": 8, "GTX1660": 6, "GTX1660Ti": 6,
    "GTX-TITAN-X": 12, "TITAN-X": 12, "TITAN-Xp": 12, "TITAN-V": 12, "TITAN-RTX": 24, "TITAN-Black": 6,
    "RTX2060": 6, "RTX2070": 8, "RTX2070SUPER": 8, "RTX2080": 8, "RTX2080SUPER": 8, "RTX3050": 8, "RTX3060Ti": 8, "RTX3070Ti": 8,
    "K20": 5, "K40": 12, "M40": 12, "M60": 8, "P5000": 16, "P6000": 24, "GV100": 32, "RTX4000": 8, "RTX5000": 16,
    "H20": 96, "L20": 48, "RTX4090D": 24, "RTX5090D": 32, "RTXA5500": 24, "RTX5060Ti": 8, "RTX5070Ti": 16,
}  # fmt: skip
"""GB per GPU, by name; the M40 was sold with 24 GB too, the RTX 5060 Ti with 16, the least is meant. Besides older ones, those that few clouds have."""


def find_named_card(text: str) -> str | None:
    """Return the table's name of a card that somebody writes of, in any spelling; None of what is none."""
    found = find_accelerator(text)
    return found.name if found is not None else _older().get(_folded(text))


def named_card_gib(name: str) -> float:
    """Return the GiB that programs can allocate on a card that ``find_named_card`` gave. Raises ``KeyError`` of others."""
    table = accelerators()
    return table[name].memory_gib if name in table else round(OLDER_CARDS_GB[name] * (1 - UNMEASURED_RESERVE), 1)


def named_card_gb(name: str) -> float:
    """Return the GB that such a card was sold with. Raises ``KeyError`` of what ``find_named_card`` did not give."""
    table = accelerators()
    return table[name].marketed_gb if name in table else float(OLDER_CARDS_GB[name])


def _folded(text: str) -> str:
    return regex(r"nvidia|geforce|quadro|tesla|pascal|maxwell|[^a-z0-9]").sub("", text.lower())


@functools.cache
def _older() -> Mapping[str, str]:
    return {_folded(name): name for name in OLDER_CARDS_GB}
