"""A notebook's commands with what its Python sets before them."""

from __future__ import annotations

import json

import pytest

from gpu_lol_action.analysis.command_lines.notebook_words import notebook_lines
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("before", "command", "expected"),
    [
        ("size = 1024", "#!python a.py --size {size}", "python a.py --size 1024"),
        ("size = 1024", "#!python a.py --size=$size", "python a.py --size=1024"),
        ('MODEL = "a/b" #@param {type:"string"}', "#!python a.py -m $MODEL", "python a.py -m a/b"),
        ("rate = 1e-4  # usual", "#!python a.py --lr {rate}", "python a.py --lr 1e-4"),
        ("#%env MODEL=a/b", "#!python a.py -m $MODEL", "python a.py -m a/b"),
        ("#%env MODEL a/b", "#!python a.py -m $MODEL", "python a.py -m a/b"),
        ('os.environ["MODEL"] = "a/b"', "#!python a.py -m $MODEL", "python a.py -m a/b"),
        # What is computed, or set anew, is not told; what the shell or an option means is left as it is.
        ("size = best()", "#!python a.py --size {size}", "python a.py --size {size}"),
        ("size = 1024\nsize = best()", "#!python a.py --size {size}", "python a.py --size {size}"),
        ("size = 1024\nsize += 1", "#!python a.py --size {size}", "python a.py --size {size}"),
        ("size = 1\nfor size in sizes:", "#!python a.py --size {size}", "python a.py --size {size}"),
        ("size = 1024", "#!echo ${size}", "echo ${size}"),
        ("if size == 1024:", "#!echo {size}", "echo {size}"),
    ],
)
def test_names_are_put_into_commands(before: str, command: str, expected: str) -> None:
    assert list(notebook_lines(f"{before}\n{command}\n"))[-1] in {expected, ""}
    assert expected in list(notebook_lines(f"{before}\n{command}\n"))


def test_a_command_ends_with_its_cell() -> None:
    assert list(notebook_lines("#!python a.py \\\n#!  --b 1 \\\n#%%\n#!python c.py\n"))[2:] == ["", "python c.py"]


def test_a_notebooks_command_has_its_options(checkout: Build) -> None:
    cells = ['MODEL = "a/b"\nsize = 768', "!accelerate launch train.py --model=$MODEL \\\n  --resolution={size}"]
    code = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    tree = checkout(
        {"a.ipynb": json.dumps({"cells": code, "metadata": {}, "nbformat": 4}), "train.py": "import torch\n"}
    )
    (command,) = launch_commands(tree)
    assert command.options == {"model": "a/b", "resolution": "768"}
