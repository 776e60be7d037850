"""The samples of the input that a document makes up for the network that it shows: the batch of what it starts."""

from __future__ import annotations

from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# `torch.randint(0, 20000, (2, 1024))`, `torch.randn(1, 3, 256, 256)`: what is drawn, then samples and at least one side more.
_INPUT = regex(
    r"torch\.randint\(\s*\d[\d_]*\s*,\s*\d[\d_]*\s*,\s*\(\s*(\d{1,4})\s*,|torch\.(?:randn|rand)\(\s*\(?\s*(\d{1,4})\s*,"
)


def shown_batch(run: Run) -> Finding | None:
    """Return the samples of the first input that a document makes up for the network that it shows (``torch.randn(4, 3, 256, 256)``)."""
    script = run.script
    found = _INPUT.search(script.text) if script is not None and is_shown(script) else None
    if script is None or found is None:
        return None
    number = next(group for group in found.groups() if group)
    where = Evidence(script.path, script.text.count("\n", 0, found.start()) + 1)
    return Finding("training.batch_size", number, f"the input that is shown holds {number}", Confidence.HIGH, where)
