"""Libraries to train with that bring no program of their own which trains: what their users write does.

All that starts there is a tool beside the work (one that converts checkpoints, or keeps them apart), and it loads weights as programs do
that run a model. Of such a library its README and its modules say what it is for.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior, behavior_of
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.runs import further_runs
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_MODULES = 400
_FOR_USE = regex(r"generat|infer|predict|chat|demo|sampl|serv|app\b|eval|test", re.IGNORECASE)
_STEPS = ("backward", "optimizer", "optimiser", "train")


def made_to_train(checkout: Checkout, run: Run) -> Finding | None:
    """Return the workload of a library whose README tells mostly of training, where nobody is told to start the program that only infers."""
    script = run.script
    if script is None or run.command is not None or run.behavior is not Behavior.INFERS or is_shown(script):
        return None
    beside = further_runs(checkout)
    if run in beside or any(other.behavior is Behavior.TRAINS for other in beside) or _FOR_USE.search(script.name):
        return None
    if script.form is not Form.PYTHON or not any(project.is_installable for _, project in lists_of(checkout).projects):
        return None
    readme = next((each for each in root_readmes(checkout) if tells_of_training(each.text)), None)
    if readme is None or not _has_training_module(checkout, script.path.partition("/")[0]):
        return None
    why = (
        f"`{readme.name}` tells mostly of training, modules of the library train, and no document starts `{run.shown}`"
    )
    return Finding("workload", "training", why, Confidence.LOW, run.evidence)


def _has_training_module(checkout: Checkout, package: str) -> bool:
    """Whether a module of the package takes the steps of a training."""
    modules = [source for source in checkout.of(Form.PYTHON) if source.path.startswith(f"{package}/")]
    likely = (source for source in modules[:MAX_MODULES] if any(map(source.mentions, _STEPS)))
    return any(source.code is not None and behavior_of(source.code)[0] is Behavior.TRAINS for source in likely)
