"""How long texts are that a program pads to the longest of a batch, where all that is said is how many its model takes.

A GPT of one's own has 1024 positions because the published weights have them; an instruction with its answer fills a few hundred.
"""

from __future__ import annotations

from gpu_lol_action.analysis.documents.wordless import WORDLESS
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.media.question import DEFAULT_POSITIONS, LONGEST_PADDED
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.known_models import ModelFacts

FRAMES = 1024
"""Of what is said in one breath, ten seconds or so: spectra have about a hundred in each."""


def padded_length(findings: tuple[Finding, ...], model: ModelFacts, most: int) -> int:
    """Return the tokens of the longest text of a batch, of which ``most`` are the limit; ``most`` where they are filled up to it."""
    is_own = model.source == "shape" and model.kind == "llm"
    padding = best(findings, "training.padding")
    # What a module beside the program pads may be another program's data; of a network of sounds it is theirs, which differ much.
    if padding is not None and is_own and best(findings, WORDLESS) is not None:
        return min(most, FRAMES)
    is_padded = padding is not None and padding.confidence >= Confidence.MEDIUM
    return DEFAULT_POSITIONS if is_own and is_padded and most > LONGEST_PADDED else most


def gaps(findings: tuple[Finding, ...], model: ModelFacts) -> list[str]:
    """Return what was assumed of such texts, in a sentence; none where nothing was."""
    said = best(findings, "training.sequence_length")
    if said is None or (tokens := padded_length(findings, model, int(said.value))) == int(said.value):
        return []
    return [
        f"texts are padded to the longest of a batch: {tokens} tokens were taken of the {said.value} that are the most"
    ]
