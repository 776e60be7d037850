"""A README whose code only shows the weights that came out of a training, where a folder's own README tells how they are trained.

The code takes nothing of the checkout: a few lines of a library's that load what was published. What the checkout is made of is the
training, told in `training/README.md` or the like; a folder for tuning what others have trained is another matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import local_imports
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_kinds import is_beside, is_variant, tunes_aside
from gpu_lol_action.domain.patterns import regex

_FOR_TRAINING = regex(r"(?:pre)?train(?:ing)?|rl", re.IGNORECASE)


def trained_here(checkout: Checkout, runs: Sequence[Run]) -> Run | None:
    """Return the first run that trains a program of the checkout and is told of in a folder's README, where the first of all is such code."""
    first = runs[0] if runs else None
    if first is None or first.script is None or not is_shown(first.script) or first.behavior is not Behavior.INFERS:
        return None
    if local_imports(checkout, first.script):
        return None
    return next((run for run in runs if _is_told_in_a_folder(run)), None)


def _is_told_in_a_folder(run: Run) -> bool:
    command = run.command
    if command is None or run.script is None or run.behavior is not Behavior.TRAINS or not command.is_documented:
        return False
    folder, _, name = command.said.path.rpartition("/")
    if _FOR_TRAINING.fullmatch(folder) is None or not name.lower().startswith("readme"):
        return False
    return not (tunes_aside(run) or is_beside(run) or is_variant(run))
