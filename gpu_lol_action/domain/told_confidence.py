"""How sure a finding calls itself to a reader, where what decided is mostly wrong: as a guess."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

OF_HELPERS = frozenset(
    {"model.id", "model.layers", "model.hidden_size", "model.attention_heads", "model.kv_heads", "model.feed_forward",
     "model.vocabulary", "model.experts", "media.image_size", "media.frames", "media.classes", "training.precision",
     "training.sequence_length", "training.method"}
)  # fmt: skip
"""Fields of which a helper has its own; batches, optimizers and attention are the run's in four of five."""


def as_told(findings: Sequence[Finding], guesses: Collection[Evidence]) -> tuple[Finding, ...]:
    """Return the findings with those of medium confidence as low whose places are guesses.

    Of one field the surest come before the others, so that whoever takes the surest takes the same one as before.
    """
    told = list(findings)
    for field in sorted({finding.field for finding in findings} & OF_HELPERS) if guesses else ():
        places = [place for place, finding in enumerate(findings) if finding.field == field]
        surest_first = sorted((findings[place] for place in places), key=lambda finding: -finding.confidence)
        for place, finding in zip(places, surest_first, strict=True):
            is_guess = finding.confidence is Confidence.MEDIUM and finding.evidence in guesses
            told[place] = replace(finding, confidence=Confidence.LOW) if is_guess else finding
    return tuple(told)
