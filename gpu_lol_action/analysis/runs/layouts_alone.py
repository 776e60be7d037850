"""Configurations that only lay a training out over cards: DeepSpeed's and Accelerate's files where no program and no model is.

What is trained by them is somebody else's word. It is divided because a card does not hold it, so it takes more than a small model.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "training.layout"
_ENGINES = regex(r"(?:^|[\"'\s])zero_optimization[\"']?\s{0,4}:")
_LAUNCHERS = regex(r"(?m)^distributed_type:\s{0,8}[\"']?(?:FSDP|DEEPSPEED|MEGATRON_LM)\b")
_MODELS = regex(r"(?:^|_)model(?:_name|_id|_path|$)")


def detect(run: Run) -> list[Finding]:
    """Return that the run is such a file."""
    if run.script is not None or run.command is not None or not run.configs:
        return []
    source = run.configs[0]
    if _ENGINES.search(source.text) is None and _LAUNCHERS.search(source.text) is None:
        return []
    if any(_MODELS.search(setting.key) for setting in read_settings(source)):
        return []
    why = "only a layout over cards, for models that one does not hold"
    return [Finding(FIELD, "alone", why, Confidence.LOW, run.evidence)]
