"""Time and memory of whole analyses, measured by the kernel: large and hostile trees, in processes of their own."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_MIB = 400
"""Of any tree. One program as dense as is parsed takes half of it; ordinary trees stay under 100."""
MOST_PARSES = 75
"""Processor time of any tree, in those that Python itself takes to parse one dense program: machines, and their busy hours, differ."""
DENSE = "import torch\nloss.backward()\n" + "a;" * 48_000
PROGRAM = "import torch\nmodel.cuda()\nloss.backward()\n"
# The kernel's `ru_maxrss` of a child holds what its parent used when it was made, and this one may be large: the child says
# the peak of its own memory.
_CHILD = """
import resource, sys
from pathlib import Path
from gpu_lol_action.cli import main
code = main()
status = Path("/proc/self/status")
if status.exists():
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    print(int(peak.split()[1]) / 2**10, file=sys.stderr)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, file=sys.stderr)
sys.exit(code)
"""


def analyzed(folder: Path) -> tuple[list[str], float, float]:
    """Return what was not understood, seconds of processor time, and peak memory in MiB."""
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    answer = folder.parent / f"{folder.name}.json"
    with answer.open("wb") as file:
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, "analyze", str(folder), "--format", "json"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=file,
            stderr=subprocess.PIPE,
        )
        assert child.stderr is not None
        with child.stderr as stream:
            said = stream.read().decode()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, said
    found = json.loads(answer.read_bytes())
    assert found["workload_type"] == "training"
    return found["not_understood"], used.ru_utime + used.ru_stime, float(said.split()[-1])


def one_parse() -> float:
    """Return the seconds of processor time in which Python parses one dense program, now and here."""
    begun = time.process_time()
    ast.parse(DENSE)
    return time.process_time() - begun


def fifty_thousand_files(folder: Path) -> None:
    for number in range(50_000):
        if number % 500 == 0:
            (folder / f"package{number // 500}").mkdir()
        (folder / f"package{number // 500}" / f"m{number}.py").write_text(
            "import torch\nx = f(a=1)\n", encoding="utf-8"
        )


def a_notebook_of_a_hundred_megabytes(folder: Path) -> None:
    cell = json.dumps({"cell_type": "code", "source": ["import jax\n"], "outputs": ["A" * 1_000_000]})
    (folder / "big.ipynb").write_text('{"cells": [' + ",".join([cell] * 100) + "]}", encoding="utf-8")


def dense_programs(folder: Path) -> None:
    for number in range(60):
        (folder / f"dense{number}.py").write_text(DENSE, encoding="utf-8")


def dense_configurations(folder: Path) -> None:
    for number in range(400):
        (folder / f"{number}.yaml").write_text("learning_rate: 1\n" * 7000, encoding="utf-8")


def notebooks_of_braces(folder: Path) -> None:
    for number in range(6):
        (folder / f"{number}.ipynb").write_text('{"cells": [' + "{}," * 480_000 + "{}]}", encoding="utf-8")


@pytest.mark.parametrize(
    ("build", "note"),
    [
        (fifty_thousand_files, "after 10000 files or 96 MiB the rest is not read"),
        (a_notebook_of_a_hundred_megabytes, "over 16384 KiB, so not read: big.ipynb"),
        (dense_programs, "not parsed, for other programs came first"),
        (dense_configurations, ""),
        (notebooks_of_braces, ""),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_time_and_memory_are_bounded(tmp_path: Path, build: object, note: str) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    assert callable(build)
    build(folder)
    before = one_parse()
    notes, seconds, peak_mib = analyzed(folder)
    assert any(note in line for line in notes) or not note
    assert seconds < MOST_PARSES * max(before, one_parse())
    assert peak_mib < MOST_MIB
