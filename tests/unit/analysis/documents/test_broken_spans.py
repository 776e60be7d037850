"""Code between backticks that goes on in the next lines is one command."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.documents.broken_spans import MAX_LINES, open_span, whole_span
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("`torchrun --nproc-per-node=8 train.py big", "torchrun --nproc-per-node=8 train.py big"),
        ("Use `net`, and start `python train.py --a", "python train.py --a"),
        ("`python train.py --a` trains it", None),
        ("no code", None),
        ("```python train.py --a", None),
        ("`short", None),
    ],
)
def test_what_a_line_leaves_open(line: str, begun: str | None) -> None:
    assert open_span(line) == begun


@pytest.mark.parametrize(
    ("behind", "whole"),
    [
        (["--a 1", "--b 2` and so on"], "python train.py --a 1 --b 2"),
        (["--a 1", "", "--b 2`"], None),
        (["`"], None),
        (["--a 1"] * MAX_LINES, None),
        (["--a " + "1" * 700, "--b 2`"], None),
    ],
)
def test_a_paragraph_ends_it(behind: list[str], whole: str | None) -> None:
    assert whole_span("python train.py", iter(behind)) == whole


def test_a_command_over_two_lines_is_read_whole(checkout: Build) -> None:
    readme = (
        "# Net\n\nTo start:\n\n`KEY=key torchrun --nproc-per-node=8 train.py big\n--save_folder=/out --wandb=null`\n"
    )
    commands = launch_commands(checkout({"README.md": readme, "train.py": "import torch\n"}))
    assert [(c.processes, c.options.get("save_folder"), c.evidence.line) for c in commands] == [(8, "/out", 5)]
