"""Programs in Rust: the first command of a README that has Cargo build or run them says by its features whether that is for a card.

Cargo's book on features: ``--features cuda,cudnn`` or ``-F``, by commas or blanks. A README that begins without them leaves a card to the few.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

_COMMAND = regex(
    r"^[ \t>$]*(?:\w+=\S+ +){0,4}cargo[ \t]+(?:\+\w+[ \t]+)?(?:run|build|install[ \t]+--path|bench)\b(?:[^\n\\]|\\\n|\\){0,400}",
    re.MULTILINE,
)
_ON_A_CARD = regex(r"(?:--features|-F)[ \t=]+[\"']?(?:[\w/-]{1,40}[, ]){0,6}[\w/-]{0,30}(?:cuda|cudnn|flash-attn)")
_TRAINS = regex(r"(?:^|[ /_-])(?:pre-?)?train(?:ing|er)?(?![A-Za-z])")


def built_for_a_card(readme: Source) -> tuple[int, bool] | None:
    """Return the line of a README's first command for Cargo, and whether it trains, where its features are CUDA's; None elsewhere."""
    found = _COMMAND.search(readme.text) if readme.mentions("cargo") else None
    if found is None or _ON_A_CARD.search(found[0]) is None:
        return None
    return readme.text.count("\n", 0, found.start()) + 1, _TRAINS.search(found[0]) is not None
