"""Programs that freeze the encoder of a sentence-transformers model and train what stands behind it: ``model[0].requires_grad_(False)``.

The encoder is the first of a model's modules, as the package's documentation of its modules has it. No gradient runs through it, so
nothing is kept of it for a way back: the terms are those of adapters whose activations are computed anew.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

LIBRARY = "sentence_transformers"
_FIRST = r"\w{0,20}model\[0\](?:\.auto_model)?"
_FROZEN = regex(
    rf"^[ \t]*{_FIRST}\.requires_grad_\(False\)"
    rf"|^[ \t]*for\s+\w{{1,20}}\s+in\s+{_FIRST}\.parameters\(\)\s*:\s*\w{{1,20}}\.requires_grad\s*=\s*False",
    re.MULTILINE,
)
WHY = "the encoder is frozen, and what stands behind it is trained"


def frozen_encoder(run: Run) -> Evidence | None:
    """Return where a program freezes the encoder of its model; None where it learns."""
    return _frozen_in(run.script) if run.script is not None else None


@remembered
def _frozen_in(source: Source) -> Evidence | None:
    found = _FROZEN.search(source.text) if source.mentions(LIBRARY) and "requires_grad" in source.text else None
    return Evidence(source.path, source.text.count("\n", 0, found.start()) + 1) if found is not None else None


def method_of_head(run: Run) -> Finding | None:
    """Return that few weights are trained."""
    where = frozen_encoder(run)
    return Finding("training.method", "lora", WHY, Confidence.MEDIUM, where) if where is not None else None


def nothing_kept(run: Run) -> Finding | None:
    """Return that a frozen encoder keeps no activations."""
    where = frozen_encoder(run)
    return Finding("training.gradient_checkpointing", "on", WHY, Confidence.HIGH, where) if where is not None else None
