"""That what a training adapts is an encoder: loaded by a class for which no model of billions of parameters is published.

Where its name tells no size the class still says that it is small: masked words, a label for each word or pixel, an answer
within a text. A label for a whole text is what large language models are trained for, too.
"""

from __future__ import annotations

from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.run_calls import called_at
from gpu_lol_action.domain.finding import Confidence, Finding

FIELD = "model.encoder"
_KINDS = ("MaskedLM", "TokenClassification", "QuestionAnswering", "ImageClassification", "SemanticSegmentation", "AudioClassification",
          "MaskedImageModeling")  # fmt: skip
_CALLS = tuple(f"AutoModelFor{kind}.from_pretrained" for kind in _KINDS)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return a finding where a run that trains loads its model by such a class."""
    if run is None or run.behavior is not Behavior.TRAINS:
        return []
    where = called_at(checkout, run, *_CALLS)
    why = "the model is loaded by a class for encoders"
    return [Finding(FIELD, "yes", why, Confidence.MEDIUM, where)] if where is not None else []
