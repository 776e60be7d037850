"""What documentation does not say: a text of some length in which nothing speaks of a card or of memory beyond an ordinary card's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.card_sizes import ORDINARY_GIB
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.named_cards import named_card_gib

SILENCE = "documented.silence"
LEAST_WORDS = 100
_ROUNDING = 2.0  # a 24 GB card offers up to 23.7 GiB


def silence(documents: Sequence[Source], found: Iterable[Finding]) -> list[Finding]:
    """Return one finding where documents of some length name neither a larger card than an ordinary one nor as much memory.

    A page of few words says nothing of anything, so that its silence tells nothing.
    """
    first = next((source for source in documents if len(source.text.split(None, LEAST_WORDS)) > LEAST_WORDS), None)
    if first is None or any(_gib(finding) > ORDINARY_GIB + _ROUNDING for finding in found):
        return []
    why = "the documentation names no card, and no memory, of more than 24 GB"
    return [Finding(SILENCE, str(ORDINARY_GIB), why, Confidence.LOW, Evidence(first.path))]


def _gib(finding: Finding) -> float:
    if finding.field.endswith("memory_gb"):
        return float(finding.value)
    return named_card_gib(finding.value) if finding.field.endswith(".card") else 0.0
