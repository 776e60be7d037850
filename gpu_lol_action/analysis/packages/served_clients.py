"""The program that a document starts below the server that it starts: both run on one machine, and both need their packages."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.models.cpu_bound import is_client
from gpu_lol_action.analysis.runs.entry_points import Run, documented_runs

MAX_LINES = 120
"""From a server to what asks it: the steps of one section."""


def client_of(checkout: Checkout, run: Run) -> Source | None:
    """Return the first program below a run that is a server of no program here, and that asks such a server; None without one."""
    if run.command is None or run.script is not None or not run.command.is_tool:
        return None
    path, line = run.evidence.path, run.evidence.line
    for other in documented_runs(checkout):
        where = other.evidence
        if where.path == path and line < where.line <= line + MAX_LINES and other.script is not None:
            return other.script if is_client(other.script) else None
    return None
