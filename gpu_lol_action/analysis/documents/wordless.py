"""Whether what is trained reads no words: a transformer over series, tracks or actions has no vocabulary, and no logits over one."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

WORDLESS = "model.wordless"
# Whoever reads or writes text has one of these words somewhere, if only in a helper that counts its parts.
_OF_TEXT = (
    "vocab",
    "okeniz",
    "num_tokens",
    "n_tokens",
    "ntoken",
    "transformers",
    "lm_head",
    "tiktoken",
    "sentencepiece",
    "stoi",
    "word2",
    "chars",
)

# What has no words says what it has: without a word of that either, nothing is known.
_OF_SERIES = ("forecast", "Forecast", "time_series", "timeseries", "time series", "TimeSeries", "trajector", "sensor")
# Names of spectra; and of what gives a word, or part of one, after another.
_OF_SOUND = ("MelSpec", "melspectrogram", "mel_spec", "n_mels", "num_mels")
_WRITES = ("lm_head", "vocab_size", "vocab", "from transformers", "CTCLoss", "ctc_loss", "codebook", "beam_search",
           "import transformers", "rnnt", "RNNT")  # fmt: skip
_OF_CLASSES = ("cross_entropy", "CrossEntropy")


def wordless(checkout: Checkout, reached: Sequence[Source], where: Evidence) -> list[Finding]:
    """Return a finding where programs speak of series or tracks, and none of the checkout has a word of what reads text."""
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK, roles=(Role.WORKLOAD,)) if reached else ()
    if _writes_sound(reached):
        why = "the programs make spectra of sounds, and nothing of them writes words"
        return [Finding(WORDLESS, "yes", why, Confidence.LOW, where)]
    if not any(source.mentions(word) for source in programs for word in _OF_SERIES):
        return []
    if any(source.mentions(word) for source in (*reached, *programs) for word in _OF_TEXT):
        return []
    return [
        Finding(
            WORDLESS, "yes", "the programs speak of series, and none of words or a vocabulary", Confidence.LOW, where
        )
    ]


def _writes_sound(reached: Sequence[Source]) -> bool:
    """Whether what a run reaches works on spectra: its transformer gives numbers per frame, also where it is told what to say by letters."""
    is_of_sound = any(source.mentions(word) for source in reached for word in _OF_SOUND)
    if not is_of_sound or any(source.mentions(word) for source in reached for word in _WRITES):
        return False
    # What reads letters to speak them is not told by classes how well it did; what writes them is.
    has_tokens = any(source.mentions("okeniz") for source in reached)
    return not has_tokens or not any(source.mentions(word) for source in reached for word in _OF_CLASSES)
