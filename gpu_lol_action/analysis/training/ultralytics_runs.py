"""Trainings by ultralytics: a list of devices starts a process for each, and the batch is for all of them together.

Source: Ultralytics' guide on training with several GPUs (``device=[0, 1]``, ``batch`` is divided among them).
"""

from __future__ import annotations

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence

_TOOL, _LIBRARY = "yolo", "ultralytics"


def trained_by_ultralytics(run: Run) -> Evidence | None:
    """Return where a run has ultralytics train: its command, or a call of the run's own program; None for any other."""
    if run.script is None:
        is_command = (
            run.command is not None
            and run.command.tool == _TOOL
            and ("train" in run.command.words or run.options.get("mode") == "train")
        )
        return run.evidence if is_command else None
    code = run.script.code
    if code is None or _LIBRARY not in code.imported():
        return None
    told = (each for each in code.calls_named("train") if each.spread or each.keyword("data", "cfg") is not None)
    call = next(told, None)
    return Evidence(run.script.path, code.line_of_file(call.line)) if call is not None else None
