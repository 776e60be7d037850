"""How long a sample of a vision-language model is: its text, and the tokens of its picture."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.picture_tokens import TEXT_TOKENS, picture_tokens

PIXELS = "media.picture_pixels"
LIMIT = 8192
"""Above this a length that a program only starts with is what it allows, not what its samples have."""
_KEYS = ("image_max_pixels", "max_pixels", "max_image_pixels")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the pixels to which larger pictures are brought, where the run says so."""
    if run is None:
        return []
    said = look_up_number(scope_of(checkout, run), _KEYS, 1000, 100_000_000)
    if said is None or said.confidence is Confidence.LOW:
        return []
    why = f"`{said.setting.key}` is {said.text}"
    return [Finding(PIXELS, str(as_number(said.text)), why, said.confidence, said.evidence)]


def with_pictures(model: ModelFacts, said: Finding | None, usual: int, pixels: Finding | None) -> int:
    """Return the tokens of a sample to train on: what the run says, else its picture and a text.

    What a program only starts with may leave pictures out (they lengthen a text that is cut before), or be a mere limit.
    """
    own = int(said.value) if said is not None else 0
    if not model.kind.startswith("vlm") or (said is not None and said.confidence is Confidence.HIGH):
        return own or usual
    tokens = picture_tokens(model.name, int(pixels.value) if pixels is not None else 0)
    if tokens is None:
        return own or usual
    return max(min(own, LIMIT), tokens + TEXT_TOKENS)
