"""The launchers of OpenMMLab's libraries and of timm, which the projects in their trees and the configurations of others start by name.

``bash tools/dist_train.sh CONFIG 8 --amp`` is torchrun with eight processes; ``GPUS=16 sh tools/slurm_train.sh PARTITION JOB CONFIG`` takes
sixteen cards of machines of eight. So these scripts have been since their first releases; timm's ``./distributed_train.sh 4 DIR --amp``
hands all behind the number on to its ``train.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.formats.told_numbers import as_count

_CONFIG = (".py", ".yaml", ".yml")
USUAL_NODE = 8


def openmmlab_launch(name: str, parameters: Sequence[str], given: Mapping[str, str]) -> str | None:
    """Return the command that a launcher comes to; None for other scripts, and where configuration or number are left open."""
    script = name.rpartition("/")[2]
    if script == "distributed_train.sh" and (count := as_count(parameters[0] if parameters else None)) is not None:
        return " ".join(("torchrun", f"--nproc_per_node={count}", _beside(name), *parameters[1:]))
    if script == "dist_train.sh" and len(parameters) > 1:
        config, count, rest = parameters[0], as_count(parameters[1]), parameters[2:]
    elif script == "slurm_train.sh" and len(parameters) > 2:
        count = min(as_count(given.get("GPUS")) or USUAL_NODE, as_count(given.get("GPUS_PER_NODE")) or USUAL_NODE)
        config, rest = parameters[2], parameters[3:]
    else:
        return None
    if count is None or not config.endswith(_CONFIG):
        return None
    return " ".join(("torchrun", f"--nproc_per_node={count}", _beside(name), config, *rest))


def _beside(name: str) -> str:
    return f"{name.removeprefix('./').rpartition('/')[0]}/train.py".lstrip("/")
