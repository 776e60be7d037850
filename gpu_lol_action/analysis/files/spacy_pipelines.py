"""What a spaCy pipeline's configuration says of the transformer under it, in the words of other trainers.

Format: spaCy's documentation of its configuration: sections in brackets, values as JSON writes them. Only what is about the
transformer is read: ``nlp.batch_size`` counts texts that the finished pipeline is handed, and no batch of the training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

_PIPELINE = regex(r"^\[nlp\]", re.MULTILINE)
_OVER_TRANSFORMER = regex(
    r"spacy-(curated-)?transformers\.|^factory\s{0,4}=\s{0,4}\"(curated_)?transformer\"", re.MULTILINE
)
_SECTION = regex(r"\[([\w.*-]{1,120})\]\s*$")
_VALUE = regex(r"(@?\w{1,60})\s{0,4}=\s{0,4}\"?([^\"]{1,200})\"?\s*$")
_BATCHER, _SIZE = "training.batcher", "training.batcher.size"
_OF_WORDS = ("spacy.batch_by_padded", "spacy.batch_by_words")
TOKENS_PER_WORD = 2
"""Of a transformer: words are split in pieces, and its spans overlap (window 128, stride 96)."""


def over_transformer(source: Source) -> str | None:
    """Return the package that brings the transformer of a pipeline's configuration; None where it has none."""
    found = _OVER_TRANSFORMER.search(source.text)
    if found is None:
        return None
    return "spacy-curated-transformers" if found[1] or found[2] else "spacy-transformers"


def pipeline_settings(source: Source) -> Iterator[Setting]:
    """Yield the name of a pipeline's transformer, its precision, and the tokens of a training's batch; nothing for other INI files."""
    if not _PIPELINE.search(source.text) or over_transformer(source) is None:
        return
    section, batcher = "", ""
    for number, line in enumerate(source.text.split("\n"), 1):
        if (header := _SECTION.match(line)) is not None:
            section = header[1]
        elif (said := _VALUE.match(line)) is not None:
            key, text, where = said[1], said[2].strip(), Evidence(source.path, number)
            batcher = text if section == _BATCHER and key == "@batchers" else batcher
            if key == "name" and "transformer" in section:
                yield Setting("model_name", f"{section}.model_name", text, where)
            elif key == "mixed_precision":
                yield Setting("fp16", f"{section}.fp16", text, where)
            elif (section, key) in {(_BATCHER, "size"), (_SIZE, "stop")} and batcher.startswith(_OF_WORDS):
                words = int(text) if text.isdigit() and len(text) < 7 else 0
                yield Setting("max_batch_tokens", f"{section}.{key}", str(TOKENS_PER_WORD * words), where)
