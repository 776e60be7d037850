"""What a document says right around a training's command: that it only tries something out, or that nobody should train so.

"Run with small depth to test" above a command, "It is not recommended to use a single GPU for training" below it: the run meant is
another one of the same document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.documents.document_layout import code_blocks
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_TRIES = regex(
    r"\b(?:for|to)\s+debug(?:ging)?\b|\bdebug\W{0,4}\s?mode\b|\bdebug(?:ging)?\s+runs?\b|\bsanity[ -]check|\bsmoke[ -]test|\bdry[ -]run\b|\btest[- ]runs?\b"
    r"|\b(?:small|tiny|quick|short)\b[^.:]{0,40}\bto\s+test\b|\bquick(?:ly)?\s+(?:test|check|try)\b"
    r"|\bto\s+(?:test|check|verify)\s+(?:that|whether|if)\b|\billustrati(?:ve|on)\s+purposes?\b",
    re.IGNORECASE,
)
_REFUSES = regex(
    r"\bnot\s+recommend(?:ed)?\b[^.]{0,60}\b(?:single|one|1)[- ]GPU|\billustrati(?:ve|on)\s+purposes?\b", re.IGNORECASE
)
_FOR_SOME = regex(
    r"(?:\W{0,6}(?:Optional(?:ly)?\b|Alternatively\b)|If\s+you(?:\s+(?:are|also|just))?\s+(?:interested\s+in|want|wish|(?:woul|')d\s+like|like)\b[^.:]{0,60}\byour\s+own\b)",
    re.IGNORECASE,
)
MAX_LINES, LINES_AWAY, LINES_BELOW, MAX_CHARACTERS = 6000, 3, 4, 600


def is_offered_aside(checkout: Checkout, run: Run) -> bool:
    """Whether the words that lead to a documented command offer it to who wants more ("If you are interested in pre-training your own encoder")."""
    if run.command is None or not run.command.is_documented:
        return False
    document = checkout.find(run.command.said.path)
    if document is None or document.form is not Form.MARKDOWN:
        return False
    return _FOR_SOME.match(_around(document, run.command.said.line)[0].strip()) is not None


def is_tried_out(checkout: Checkout, run: Run) -> bool:
    """Whether the words that lead to a documented training, or the first ones below it, say that it is not the one meant."""
    if run.command is None or run.behavior is not Behavior.TRAINS or not run.command.is_documented:
        return False
    document = checkout.find(run.command.said.path)
    if document is None or document.form is not Form.MARKDOWN:
        return False
    above, below = _around(document, run.command.said.line)
    return _TRIES.search(above) is not None or _REFUSES.search(below) is not None


@remembered
def _around(document: Source, line: int) -> tuple[str, str]:
    """Return the remarks and the line that lead to a command, and the first lines below its block."""
    lines, blocks = _read(document)
    block = next((block for block in blocks if line in block), None)
    if block is None:  # between backticks: its own sentence leads to it, or the one above
        said = lines[line - 1].partition("`")[0] if 0 < line <= len(lines) else ""
        return said if said.strip() else _first_words(lines, range(line - 1, max(0, line - 1 - LINES_AWAY), -1), 1), ""
    remarks: list[str] = []
    for number in range(line - 1, block.start - 1, -1):
        if not lines[number - 1].lstrip().startswith("#"):
            break
        remarks.append(lines[number - 1])
    # Of several commands in a block the words above it lead to all, those below it to the last.
    is_first = line - len(remarks) == block.start
    is_last = not any(_COMMAND.match(text) for text in lines[line : block.stop - 1])
    led = _first_words(lines, range(block.start - 2, max(0, block.start - 2 - LINES_AWAY), -1), 1) if is_first else ""
    told = _first_words(lines, range(block.stop + 1, block.stop + 1 + 2 * LINES_BELOW), LINES_BELOW) if is_last else ""
    return f"{' '.join(remarks)} {led}"[:MAX_CHARACTERS], told[:MAX_CHARACTERS]


@remembered
def _read(document: Source) -> tuple[list[str], list[range]]:
    lines = document.text.split("\n")[:MAX_LINES]
    return lines, code_blocks(lines)


_COMMAND = regex(r"\s*(?:\$ |[A-Z_]+=\S+ )*(?:python|torchrun|accelerate|deepspeed|mpi|bash|sh )")


def _first_words(lines: Sequence[str], numbers: range, most: int) -> str:
    """Return the first lines of text among these, up to a heading or another block."""
    found: list[str] = []
    for number in numbers:
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        if text.startswith(("#", "```", "~~~")) or len(found) >= most:
            break
        if text:
            found.append(text)
    return " ".join(found)
