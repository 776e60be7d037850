"""Notebooks as programs: what is no Python in them leaves the Python as it is, and what they start is a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.notebooks import read_notebook
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.syntax import parse_program
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nloss.backward()\n"


def notebook(*cells: str) -> str:
    return json.dumps(
        {"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]}, indent=1
    )


def lines_of(*cells: str) -> Sequence[str]:
    read = read_notebook(notebook(*cells))
    assert not isinstance(read, str)
    return read[0].split("\n")


@pytest.mark.parametrize(
    "cell",
    [
        "if not found:\n    !pip install wget\nelse:\n    %cd x",
        "def install():\n  !pip install dm-sonnet\n\ninstall()",
        "try:\n    import x\nexcept ImportError:\n    !pip install x",
        "!python train.py \\\n    --lr 1 \\\n    --epochs 3\nx = 1",
        "files = !ls data\nname, other = %env X",
        "%%bash\nfor f in *.txt; do\n  echo $f\ndone",
        "%%html\n<b>x</b>",
        "%%writefile config.yaml\nlr: 0.01",
        "cd ..",
        "pip install -q transformers",
        "model?\n??torch.nn",
        "print('%d of %d'\n      %(a, b))",
        "Response: no code at all",
        "print 'Python 2'",
    ],
)
def test_what_is_no_python_does_not_hide_the_rest(checkout: Build, cell: str) -> None:
    run = primary_run(checkout({"a.ipynb": notebook(cell, TRAIN)}))
    assert run is not None
    assert run.behavior is Behavior.TRAINS


def test_magics_that_hold_python_are_read(checkout: Build) -> None:
    run = primary_run(checkout({"a.ipynb": notebook(f"%%time\n{TRAIN}")}))
    assert run is not None
    run = primary_run(checkout({"a.ipynb": notebook(f"%%writefile train.py\n{TRAIN}")}))
    assert run is not None


@pytest.mark.parametrize("name", ["pip", "cd", "ls", "rm"])
def test_a_name_that_a_shell_has_too_may_be_a_variable(name: str) -> None:
    assert lines_of(f"{name} = 1\n{name} += 2\n{name}(3)\n{name} in x\n")[1:5] == [
        f"{name} = 1",
        f"{name} += 2",
        f"{name}(3)",
        f"{name} in x",
    ]


def test_a_text_of_several_lines_stays_whole() -> None:
    read = read_notebook(notebook('text = """\n!ls\n"""\nx = f(1)'))
    assert not isinstance(read, str)
    assert not isinstance(parse_program(read[0]), str)


def test_lines_are_those_of_the_file() -> None:
    text = notebook("!ls", "a = 1\n!pip install x\nb = 2")
    read = read_notebook(text)
    assert not isinstance(read, str)
    code, places = read
    for line, place in zip(code.split("\n"), places, strict=True):
        if line in {"a = 1", "b = 2"}:
            assert line in text.split("\n")[place - 1]


def test_a_command_goes_on_behind_its_backslash_and_stands_in_blocks_and_shells_too(checkout: Build) -> None:
    cells = (
        "!torchrun --nproc_per_node=4 train.py \\\n    --lr 1 \\\n    --epochs 3",
        "if True:\n    !accelerate launch --num_processes 2 tune.py",
        "%%bash\ntorchrun --nproc_per_node=8 big.py",
    )
    found = launch_commands(checkout({"a.ipynb": notebook(*cells), "train.py": "", "tune.py": "", "big.py": ""}))
    assert [(command.target, command.processes) for command in found] == [
        ("train.py", 4),
        ("tune.py", 2),
        ("big.py", 8),
    ]
    assert found[0].options == {"nproc_per_node": "4", "lr": "1", "epochs": "3"} or found[0].options["epochs"] == "3"


def test_a_notebook_of_another_language_is_not_understood(checkout: Build) -> None:
    analysis = analyze(checkout({"a.ipynb": notebook("Tracker lrt = Tracker.fixed(0.1f);")}))
    assert any("not valid Python 3" in gap for gap in analysis.not_understood)
