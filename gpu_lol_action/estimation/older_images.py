"""Images from before the cards that are rented today: what they hold runs on older cards alone."""

from __future__ import annotations

import functools

from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.estimation.image_contents import image_refusal


@functools.cache
def runs_on_older_cards_only(image: str, capability: tuple[int, int]) -> bool:
    """Whether no NVIDIA card of that compute capability or a newer one runs what an image holds; its name alone is looked at."""
    newer = [
        card
        for card in accelerators().values()
        if card.is_nvidia and not card.is_arm and (card.compute_capability or (0, 0)) >= capability
    ]
    return bool(image) and all(image_refusal(image, card) for card in newer)
