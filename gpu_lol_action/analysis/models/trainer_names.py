"""The model that a trainer which is not here is made for, where its command has a path of the user's own (``sdxl_train_network.py``)."""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.media_facts import find_pipeline


def of_trainer(run: Run, family_of: Callable[[str], str | None]) -> Finding | None:
    """Return the family of pictures' or films' models that the name of the started trainer says, as a finding ``model.family``; None for others."""
    target = run.command.target if run.command is not None else ""
    if run.behavior is not Behavior.TRAINS or not target.endswith(".py"):
        return None
    name = target.rpartition("/")[2]
    family = family_of(f"/{name}")
    if family is None or find_pipeline(family) is None:
        return None
    why = f"the trainer's name `{name[:60]}` says the family of {family}"
    return Finding("model.family", family, why, Confidence.LOW, run.evidence)
