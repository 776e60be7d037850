"""What schedulers and clusters call a card: ``a100-80gb``, ``v100-32g``, ``nvidia_a100_80gb``, ``nvidia-tesla-t4``, ``NVIDIA-A100-SXM4-80GB``."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.domain.patterns import regex

_MAKER = regex(r"^(?:(?:nvidia|tesla|geforce)[_-]){1,2}", re.IGNORECASE)
# How a card is connected, or that it has more of a network, does not tell it from its kin.
_FORM = regex(r"[_-](?:SXM\d?|PCIe|NVL|HBM\d\w?|mega)(?=[_-]|$)", re.IGNORECASE)
_SIZED = regex(r"(.+?)[-_]?(\d{2,3})gb?", re.IGNORECASE)


def card_of_label(label: str) -> str | None:
    """Return the table's name of the card that a label tells; None for one that is not known."""
    bare = _FORM.sub("", _MAKER.sub("", label))
    sized = _SIZED.fullmatch(bare)
    if sized is not None and (found := find_card(sized[1].replace("_", " "), sized[2])) is not None:
        return found
    return find_card(bare.replace("_", " "), None)
