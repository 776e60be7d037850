"""That what a training adapts is an encoder: loaded by a class for which no model of billions of parameters is published.

Where its name tells no size the class still says that it is small: masked words, a label for each word or pixel, an answer
within a text. A label for a whole text is what large language models are trained for, too.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "model.encoder"
_KINDS = ("MaskedLM", "TokenClassification", "QuestionAnswering", "ImageClassification", "SemanticSegmentation", "AudioClassification",
          "MaskedImageModeling")  # fmt: skip
_CALLS = tuple(f"AutoModelFor{kind}.from_pretrained" for kind in _KINDS)
# Classes and libraries of pictures, sounds and words that no one of these sizes is published for either.
_ENCODERS = regex(
    r"(?:\w{1,40}\.){0,3}(?:CLIP|SigLIP|Siglip|ViT|DINO|Dino|Swin|Beit|Deit|ConvNext|ResNet|Segformer|Detr|Sam(?:2|Model|Vision)|Whisper|Wav2Vec2|Hubert|WavLM|Bert|Roberta"
    r"|XLMRoberta|DistilBert|Deberta|Electra|Albert|Esm|Timm)\w{0,60}\.from_pretrained|timm\.create_model"
)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return a finding where a run that trains loads its model by such a class."""
    if run is None or run.script is None or run.behavior is not Behavior.TRAINS:
        return []
    if not any(source.mentions("peft") for source in import_closure(checkout, run.script)):
        return []  # only of what adapters are put on the size is asked
    where = called_at(checkout, run, *_CALLS) or _loaded(checkout, run)
    why = "the model is loaded by a class for encoders"
    return [Finding(FIELD, "yes", why, Confidence.MEDIUM, where)] if where is not None else []


def _loaded(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where an encoder is loaded by its own class; None where a language model is loaded as well, which may see through it."""
    found: Evidence | None = None
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        for call in source.code.calls_named("from_pretrained", "create_model") if source.code is not None else ():
            if "ForCausalLM" in call.name:
                return None
            if found is None and _ENCODERS.fullmatch(call.name):
                found = Evidence(source.path, call.line)
    return found
