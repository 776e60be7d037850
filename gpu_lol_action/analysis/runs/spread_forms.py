"""Programs that show on several cards what a plain one beside them does on one: ``run_multi_gpu.py`` beside ``run.py``."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_SPREAD = regex(r"[_-]?multi[_-]?gpus?(?=$|[_-])")


def is_spread_form(checkout: Checkout, run: Run) -> bool:
    """Whether nobody is told to start a program whose plain form lies in its folder."""
    if run.command is not None or run.script is None or "multi" not in run.script.name:
        return False
    stem, _, ending = run.script.path.rpartition(".")
    folder, _, name = stem.rpartition("/")
    plain = _SPREAD.sub("", name).strip("_-")
    return plain not in {"", name} and checkout.find(f"{folder}/{plain}.{ending}".lstrip("/")) is not None
