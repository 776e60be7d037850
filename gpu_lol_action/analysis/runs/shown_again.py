"""Code in a README that says again what the command beside it does: a library often shows both ways to one use."""

from __future__ import annotations

from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.runs.entry_points import Run

SAME_USE_LINES = 20
"""Of a README, in which a command and code stand beside each other."""


def says_again(first: Run, run: Run) -> bool:
    """Whether a README's code stands beside the command that is started: no estimate of its own."""
    return (
        is_shown(run.script)
        and first.command is not None
        and first.behavior is run.behavior
        and first.evidence.path == run.evidence.path
        and abs((first.evidence.line or 0) - (run.evidence.line or 0)) <= SAME_USE_LINES
    )
