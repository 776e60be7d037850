"""The model that a trainer which is not here is made for, where its command has a path of the user's own (``sdxl_train_network.py``)."""

from __future__ import annotations

from collections.abc import Callable

from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.media_facts import find_pipeline

_TRAINERS = {
    "train_network.py": "stable-diffusion-v1-5/stable-diffusion-v1-5",
    "wan_train_network.py": "Wan-AI/Wan2.1-T2V-14B",
}
_WORDS = frozenset({"network_module", "pretrained_model_name_or_path", "dataset_config", "dit"})


def of_trainer(run: Run, family_of: Callable[[str], str | None]) -> Finding | None:
    """Return the family of pictures' or films' models that the name of the started trainer says, as a finding ``model.family``; None for others."""
    target = run.command.target if run.command is not None else ""
    if run.behavior is not Behavior.TRAINS or not target.endswith(".py"):
        return None
    name = target.rpartition("/")[2]
    family = family_of(f"/{name}") or _of_kohya(run, name)
    if family is None or find_pipeline(family) is None:
        return None
    why = f"the trainer's name `{name[:60]}` says the family of {family}"
    return Finding("model.family", family, why, Confidence.LOW, run.evidence)


def _of_kohya(run: Run, name: str) -> str | None:
    """Return the family of kohya's trainer of that name, whose words its command must have: `train_network.py` may be anybody's."""
    is_told = any(fold_key(option) in _WORDS for option in run.options)
    return _TRAINERS.get(name) if is_told else None
