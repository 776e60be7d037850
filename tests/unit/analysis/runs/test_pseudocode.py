"""Programs that are there to be read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
LEARNS = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\nif __name__ == '__main__':\n    pass\n"


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("said", "readme", "expected"),
    [
        ("# A licence\n\n'''Pseudocode of what the paper does.'''\n", LONG, "cpu-only"),
        ("'''Trains a network, after the pseudocode of a paper.'''\n", LONG, "training"),
        ("'''Pseudocode of a paper.'''\n", LONG + "```\npython search.py\n```\n", "training"),
    ],
)
def test_pseudocode_is_there_to_be_read(checkout: Build, said: str, readme: str, expected: str) -> None:
    assert workload(checkout, {"README.md": readme, "search.py": said + LEARNS}) == expected


@pytest.mark.parametrize(
    "said",
    [
        '"""Pseudocode to code translation with a network."""\n',
        '"""Pseudo-code generation model."""\n',
        '"""Pseudocode -> Python."""\n',
    ],
)
def test_a_program_that_works_on_pseudocode_is_none(checkout: Build, said: str) -> None:
    assert workload(checkout, {"README.md": LONG, "train.py": said + LEARNS}) == "training"


def test_what_can_be_started_goes_before_pseudocode(checkout: Build) -> None:
    shown = '"""Pseudocode description of a paper."""\n' + LEARNS
    assert workload(checkout, {"README.md": LONG, "algorithm.py": shown, "tiny.py": LEARNS}) == "training"
