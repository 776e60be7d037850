"""Branches of a launch script that its own variables decide."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.shell_branches import with_taken_branches
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

CASE = 'SIZE={size}\ncase "${SIZE}" in\n    "1B"|small)\n        LAYERS=16\n        ;;\n    8B)\n        LAYERS=32\n        ;;\n    *)\n        LAYERS=1\n        ;;\nesac\n'
IF = '{head}\nif [ "$MODE" = "full" ]; then\n  BATCH=1\nelif [[ $MODE == lora ]]; then\n  BATCH=4\nelse\n  BATCH=8\nfi\nBATCHES=2\n'


def kept(script: str, **given: str) -> list[str]:
    lines = with_taken_branches(iter(enumerate(script.split("\n"), 1)), given)
    return [line.strip() for _, line in lines if line.strip().startswith(("LAYERS", "BATCH"))]


@pytest.mark.parametrize(
    ("size", "layers"),
    [
        ("1B", ["16"]),
        ('"small"', ["16"]),
        ("8B", ["32"]),
        ("70B", ["1"]),
        ("$1", ["16", "32", "1"]),
        ("", ["16", "32", "1"]),
    ],
)
def test_the_arm_that_a_value_chooses_counts(size: str, layers: list[str]) -> None:
    assert kept(CASE.replace("{size}", size)) == [f"LAYERS={count}" for count in layers]


@pytest.mark.parametrize(
    ("head", "batches"),
    [
        ("MODE=full", ["1"]),
        ("export MODE=lora", ["4"]),
        ("MODE=${1:-lora}", ["4"]),
        ("MODE=other", ["8"]),
        ("MODE=$1", ["1", "4", "8"]),
        ("MODE=full\nMODE=$2", ["1", "4", "8"]),
        ("MODE=full\nif [ -f x ]; then\n  MODE=lora\nfi", ["1", "4", "8"]),
        ("MODE=full\nwhile [ $# -gt 0 ]; do\n  shift\ndone", ["1", "4", "8"]),
    ],
)
def test_a_branch_counts_unless_a_value_leaves_it_out(head: str, batches: list[str]) -> None:
    assert kept(IF.replace("{head}", head)) == [*(f"BATCH={count}" for count in batches), "BATCHES=2"]


def test_what_the_caller_sets_decides() -> None:
    assert kept(IF.replace("{head}", "MODE=${MODE:-full}"), MODE="lora") == ["BATCH=4", "BATCHES=2"]


def test_other_questions_leave_both_branches() -> None:
    script = (
        'A=1\nif [ "$A" = 1 ] && [ -z "$B" ]; then\nBATCH=1\nelse\nBATCH=2\nfi\nif [ "$A" != "1" ]; then\nBATCH=3\nfi\n'
    )
    assert kept(script) == ["BATCH=1", "BATCH=2"]


def test_python_in_a_script_opens_nothing() -> None:
    script = "A=1\nif [ $A = 2 ]; then\npython - <<EOF\nif x:\n    pass\nEOF\nBATCH=1\nfi\nBATCH=2\n"
    assert kept(script) == ["BATCH=2"]


def test_a_run_has_the_options_of_the_branch_that_its_script_takes(checkout: Build) -> None:
    script = 'SIZE=1B\ncase "$SIZE" in\n  1B)\n    TP=1\n    ;;\n  8B)\n    TP=4\n    ;;\nesac\ntorchrun --nproc_per_node 8 train.py --tensor-parallel $TP\n'
    run = primary_run(checkout({"run.sh": script, "train.py": "import torch\nloss.backward()\n"}))
    assert run is not None
    assert run.options["tensor_parallel"] == "1"
