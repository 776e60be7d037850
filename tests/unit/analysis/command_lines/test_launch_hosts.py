"""How many machines and cards a launcher is told by the names of its hosts."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.launch_hosts import on_hosts
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("tool", "options", "expected"),
    [
        ("mpirun", {"H": "one:8,two:8"}, (2, 8)),
        ("horovodrun", {"hosts": "localhost:4"}, (1, 4)),
        ("mpirun", {"host": "one:8,two:4"}, (1, None)),  # not alike
        ("mpirun", {"H": "one,two"}, (1, None)),  # no slots
        ("mpirun", {"H": "one:96"}, (1, None)),  # workers on cores
        ("mpirun", {"H": "one:0"}, (1, None)),
        ("mpirun", {"H": ",".join(["one:8"] * 500)}, (1, None)),
        ("torchrun", {"H": "one:8"}, (1, None)),
        ("mpirun", {}, (1, None)),
    ],
)
def test_slots_of_hosts(tool: str, options: dict[str, str], expected: tuple[int, int | None]) -> None:
    assert on_hosts(tool, options, None) == expected


@pytest.mark.parametrize(("started", "expected"), [(32, (2, 8)), (16, (2, 8)), (9, (2, 8)), (8, (1, 8)), (2, (1, 2))])
def test_fewer_processes_than_slots_fill_the_first_machines(started: int, expected: tuple[int, int]) -> None:
    assert on_hosts("horovodrun", {"H": "one:8,two:8"}, started) == expected
    assert on_hosts("horovodrun", {"H": "one,two"}, started) == (1, started)


@pytest.mark.parametrize("tool", ["mpirun", "horovodrun"])
def test_a_command_with_hosts(checkout: Build, tool: str) -> None:
    told = f"```\n{tool} -np 32 -H <one>:8,<two>:8,<three>:8,<four>:8 python train.py\n```\n"
    tree = checkout({"README.md": told, "train.py": "import torch\n"})
    assert [(command.processes, command.nodes) for command in launch_commands(tree)] == [(8, 4)]
