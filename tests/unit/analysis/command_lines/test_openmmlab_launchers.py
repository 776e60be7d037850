"""OpenMMLab's launchers are known by name where the tree that holds them is not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
OWN = "#!/bin/bash\npython -m torch.distributed.run --nproc_per_node=2 fit.py $1\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bash tools/dist_train.sh projects/ours/configs/net.py 8 --amp", [("tools/train.py", 8)]),
        ("./tools/dist_train.sh configs/net.py 4", [("tools/train.py", 4)]),
        ("GPUS=4 sh tools/slurm_train.sh part job configs/net.py work", [("tools/train.py", 4)]),
        ("GPUS=16 sh tools/slurm_train.sh part job configs/net.py", [("tools/train.py", 8)]),
        ("bash tools/dist_train.sh ${CONFIG} ${GPUS}", []),
        ("bash tools/dist_other.sh configs/net.py 8", []),
    ],
)
def test_what_a_launcher_starts(checkout: Build, line: str, told: list[tuple[str, int]]) -> None:
    files = {"README.md": f"```bash\n{line}\n```\n", "configs/net.py": "lr = 1\n"}
    assert [(command.target, command.processes) for command in launch_commands(checkout(files))] == told


def test_a_launcher_that_is_here_is_read(checkout: Build) -> None:
    files = {"README.md": "```bash\nbash tools/dist_train.sh net.py 8\n```\n", "tools/dist_train.sh": OWN}
    assert [(command.target, command.processes) for command in launch_commands(checkout(files))] == [("fit.py", 2)]
