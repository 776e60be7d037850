"""Cards beside amounts of one sentence: "2 V100 with 32 GB each" names the larger of two cards, "4 A100, so 320 GB" a sum over all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.documents.documented_phrases import CardPhrase
from gpu_lol_action.domain.named_cards import named_card_gb


def with_size(card: CardPhrase, sizes_gb: Collection[float]) -> CardPhrase:
    """Return a card that is named without its size as the one that is sold with an amount beside it, or with its share of a sum; else as it is."""
    own = named_card_gb(card.card)
    if card.is_sized or own in sizes_gb:
        return card
    shares = [size / card.count for size in sizes_gb if card.count and card.count > 1]
    for size in (*sizes_gb, *shares):
        found = find_card(card.card, f"{size:g}")
        if found is not None and found != card.card and named_card_gb(found) == size:
            return replace(card, card=found, is_sized=True)
    return card


def is_sum(size_gb: float, cards: Iterable[CardPhrase]) -> bool:
    """Whether an amount is that of all the cards together which are named with their number."""
    return any(card.count and card.count > 1 and size_gb == card.count * named_card_gb(card.card) for card in cards)
