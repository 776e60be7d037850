"""Cards as people write them, and the names under which the tables have them."""

from __future__ import annotations

import re

from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.named_cards import find_named_card
from gpu_lol_action.domain.patterns import regex


def export_name(name: str) -> str:
    """Return the name of a card made for export, which is rented as the one that it was made from; else nothing."""
    return name.upper() if name.upper() in {"A800", "H800"} else ""


def find_card(name: str, size: str | None) -> str | None:
    """Return the table's name of a card; A100 without a size stays the one with 40 GB, an A800 was made with 80 GB for servers."""
    bare = regex(r"[\s-]+").sub(" ", name.strip().upper())
    size = size or ("80" if bare == "A800" else None)
    bare = regex(r"^([AH])800$").sub(r"\g<1>100", bare)
    found = find_accelerator(f"{bare}-{size}GB") if size else None
    found = found or find_accelerator(bare) or find_accelerator(f"RTX{bare}") or find_accelerator(bare.replace(" ", ""))
    return found.name if found else find_named_card(bare) or find_named_card(f"RTX{bare}")


def named_as(value: str) -> re.Pattern[str]:
    """Return how a stated number or card stands in a text: ``A100-80GB`` as ``A100``, ``RTX2080Ti`` as ``2080``."""
    card = regex(r"(?:RTX|GTX-?|TITAN-?)?([A-Z]{0,2})(\d{0,4}(?:\.\d{1,6})?)").match(value)
    letters, digits = (card[1], card[2]) if card is not None else ("", "")
    return re.compile(rf"(?<![\w.]){letters}[\s-]?{re.escape(digits)}(?![\d])" if digits else "TITAN", re.IGNORECASE)
