"""Programs that freeze the encoder of a sentence-transformers model and train what stands behind it: ``model[0].requires_grad_(False)``.

The encoder is the first of a model's modules, as the package's documentation of its modules has it. No gradient runs through it, so
nothing is kept of it for a way back: the terms are those of adapters whose activations are computed anew.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

LIBRARY = "sentence_transformers"
_FIRST = r"(\w{0,20}model)\[0\](?:\.auto_model)?"
_FROZEN = regex(
    rf"^([ \t]*)(?:{_FIRST}\.requires_grad_\(False\)"
    rf"|for\s+\w{{1,20}}\s+in\s+{_FIRST}\.parameters\(\)\s*:\s*\w{{1,20}}\.requires_grad\s*=\s*False)",
    re.MULTILINE,
)
# Some of its layers, or all of it after the first steps: `requires_grad_(True)`, `weight.requires_grad = True`.
_LEARNS_AGAIN = regex(r"\.requires_grad\s{0,4}=\s{0,4}(?!\s|False)|\.requires_grad_\((?!False)")
# Whose training it is: a teacher's encoder is frozen, too.
_TRAINED = regex(r"\b(?:Trainer\(\s{0,40}|model\s{0,4}=\s{0,4})(\w{1,40})\s{0,4}(?=[,)])|\b(\w{1,40})\.fit\(")
_CONDITION = regex(r"(?:if|elif|else|while|try|except)\b")
MAX_LINES_ABOVE, MAX_PLACES = 200, 20
WHY = "the encoder is frozen, and what stands behind it is trained"


def frozen_encoder(run: Run) -> Evidence | None:
    """Return where a program freezes the encoder of its model; None where it learns."""
    return _frozen_in(run.script) if run.script is not None else None


@remembered
def _frozen_in(source: Source) -> Evidence | None:
    text = source.text
    if source.code is None or not source.mentions(LIBRARY) or "requires_grad" not in text or _LEARNS_AGAIN.search(text):
        return None
    trained = {match[1] or match[2] for match in _TRAINED.finditer(text)}
    calls = {call.line for call in source.code.calls}
    for found in itertools.islice(_FROZEN.finditer(text), MAX_PLACES):
        line = text.count("\n", 0, found.start(1)) + 1
        # What stands in a text is no call, and what stands under a condition or in a function may not be reached.
        if line in calls and (found[2] or found[3]) in trained and not _is_asked_for(text, found):
            return Evidence(source.path, line)
    return None


def _is_asked_for(text: str, found: re.Match[str]) -> bool:
    """Whether it stands under a condition: further in than a line above it that begins one."""
    depth = len(found[1])
    for line in reversed(text[: found.start()].split("\n")[-MAX_LINES_ABOVE:]) if depth else ():
        inset = len(line) - len(line.lstrip())
        if line.strip() and inset < depth:
            if _CONDITION.match(line, inset):
                return True
            depth = inset
    return False


def method_of_head(run: Run) -> Finding | None:
    """Return that few weights are trained."""
    where = frozen_encoder(run)
    return Finding("training.method", "lora", WHY, Confidence.MEDIUM, where) if where is not None else None


def nothing_kept(run: Run) -> Finding | None:
    """Return that a frozen encoder keeps no activations."""
    where = frozen_encoder(run)
    return Finding("training.gradient_checkpointing", "on", WHY, Confidence.HIGH, where) if where is not None else None
