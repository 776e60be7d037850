"""Programs without a main guard that are started all the same: at their top they read options, load a model, or loop over epochs."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.domain.patterns import regex

# Each stands at the very beginning of a line: what a function does is done by who calls it.
_STARTS = regex(
    r"^(?:[A-Za-z_][\w, ]{0,60}= ?)?(?:[\w.()]{1,60}\.)?(?:parse_args|parse_known_args|parse_args_into_dataclasses)\("
    r"|^(?:main|(?:fire\.)?Fire|(?:tf\.)?app\.run|(?:asyncio|uvicorn|typer)\.run|[A-Za-z_][\w.()=]{0,80}\.launch)\("
    r"|^for (?:epoch|step|iter|iteration)s?(?:, ?\w{1,30})? in "
    r"|^[A-Za-z_]\w{0,40} ?= ?(?:[\w.]{1,80}\.)?"
    r"(?:from_pretrained|load_model|LLM|SentenceTransformer|CrossEncoder|SparseEncoder|YOLO|WhisperModel)\(",
    re.MULTILINE,
)
# Of which one stands in every such line: to look at each line of a large tree takes longer.
_WORDS = ("parse_args", "parse_known_args", "from_pretrained(", "launch(", "main(", "Fire(", ".run(", "for epoch", "for step", "for iter",
          "load_model(", "LLM(", "SentenceTransformer(", "Encoder(", "YOLO(", "WhisperModel(")  # fmt: skip

# Python refuses it in a program that is started by its path; most modules of a package have one.
_INNER_IMPORT = "\nfrom ."


def _imports_inside(content: bytes | str) -> bool:
    return _INNER_IMPORT in content if isinstance(content, str) else _INNER_IMPORT.encode() in content


@remembered
def is_plain_script(checkout: Checkout, source: Source) -> bool:
    """Whether a program works as soon as it is read, and no other imports it: then it is made to be started."""
    if source.form is not Form.PYTHON or source.code is None or _imports_inside(source.content):
        return False
    if not any(source.mentions(word) for word in _WORDS):
        return False
    return _STARTS.search(source.text) is not None and not is_imported(checkout, source)
