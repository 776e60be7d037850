"""A project asks for more than a lesson where nothing is known of its model."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.tree_size import FIELD
from tests.unit.analysis.conftest import Build

TRAIN = (
    "import torch\nfrom parts import Net\nif __name__ == '__main__':\n    loss = Net().cuda()(x)\n    loss.backward()\n"
)


@pytest.mark.parametrize(
    ("modules", "size_gb", "counted"), [(3, 12, []), (4, 16, ["5"]), (8, 16, ["9"]), (9, 24, ["10"]), (30, 24, ["31"])]
)
def test_a_project_of_many_programs_asks_for_more_the_larger_it_is(
    checkout: Build, modules: int, size_gb: int, counted: list[str]
) -> None:
    parts = {f"lib/part_{number}.py": "import torch\nSIZE = 3\n" for number in range(modules)}
    found = analyze(checkout({"train.py": TRAIN, **parts}))
    assert found.spec.hardware.vram_required_gb == size_gb
    assert [finding.value for finding in found.findings if finding.field == FIELD] == counted
