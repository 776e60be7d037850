"""A README at the root that speaks of no card: alone it says little, and much beside what the programs do without one."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

_CARD = regex(
    r"(?<![A-Za-z])(?:GPUs?|CUDA|cuDNN|VRAM|TPUs?|NVIDIA|(?<!-)accelerators?|RTX|GTX|[AVHP]100s?|(?:\d{1,4}|graphics|video) cards?)(?![A-Za-z])|显卡|显存",
    re.IGNORECASE,
)
LEAST_WORDS = 50
# Where a link leads to is nothing that a reader is told.
_ADDRESS = regex(r"\]\(\S{1,300}?\)|\b(?:src|href)=\"[^\"\n]{1,300}\"", re.IGNORECASE)
# Who makes cards makes and hosts models as well, and owns folders of code: only some of these are for cards and nothing else.
_COMPANY = regex(
    r"@nvidia\.com\b|\b(?:build|docs|integrate\.api)\.nvidia\.com\b|\bgithub\.com[/:]NVIDIA\b(?!/)"
    r"|\bNVIDIA(?:/(?!apex|TensorRT|Megatron|TransformerEngine|FasterTransformer|MinkowskiEngine|k8s-device|gpu-|nvidia-|nccl|cu|DALI|thrust|warp)(?=[a-z])|\s(?:NIMs?|NeMo|Corporation|APIs?|AI Endpoints?|Nemotron|GitHub|Research|(?:AI )?Foundation)\b)",
    re.IGNORECASE,
)
# What only tells of another way, for readers who happen to have one.
_IF_THERE = regex(
    r"\b(?:if|assuming|when|provided|in case|unless)\b[^.\n]{0,30}\b(?:have|has|own|with|there is|available)\b[^.\n]{0,20}(?<![A-Za-z])GPUs?(?![A-Za-z])"
    r"|(?<![A-Za-z])GPUs?(?![A-Za-z])[^.\n]{0,12}\b(?:is|are)\b[^.\n]{0,6}\bavailable\b"
    r"|\bmay want to\b[^.\n]{0,30}(?<![A-Za-z])GPUs?(?![A-Za-z])"
    r"|(?<![A-Za-z])GPUs? can (?:also )?(?:improve|speed|help|accelerate|make)\b",
    re.IGNORECASE,
)


@remembered
def silent_readme(checkout: Checkout) -> Source | None:
    """Return the README at the root where none there says a word of a card; None where one does, and where none is of some length.

    A page of few words says nothing of anything, so that its silence tells nothing.
    """
    readmes = root_readmes(checkout)
    long = next((source for source in readmes if len(source.text.split(None, LEAST_WORDS)) > LEAST_WORDS), None)
    return long if long is not None and not any(speaks_of_a_card(source.text) for source in readmes) else None


def root_readmes(checkout: Checkout) -> tuple[Source, ...]:
    """Return the READMEs at the root, in all their languages."""
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    return tuple(source for source in documents if source.depth == 0 and source.name.startswith("readme"))


def speaks_of_a_card(text: str) -> bool:
    """Whether a text speaks of a card that is used, and not only of one that a reader may have."""
    if _CARD.search(text) is None:
        return False
    return any(_CARD.search(_said(line)) for line in text.split("\n") if _CARD.search(line))


def _said(line: str) -> str:
    """Return a line without what is an address, a company's name or a word for the few in it."""
    told = _IF_THERE.sub("", _ADDRESS.sub("]", line))
    return _COMPANY.sub("", told) if "vidia" in told or "VIDIA" in told else told
