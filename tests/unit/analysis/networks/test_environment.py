"""A network's sizes that the environment may say: what the program takes where nobody does."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

PROGRAM = """import os
import torch
from torch import nn
WIDE = {asked}
model = nn.Sequential(nn.Linear(32, WIDE), nn.ReLU(), nn.Linear(WIDE, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for batch in torch.utils.data.DataLoader(load(), batch_size=4):
    model(batch).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("asked", "start", "expected"),
    [
        ('int(os.getenv("WIDE", "64"))', "python train.py\n", 32 * 64 + 64 + 64 * 10 + 10),
        ('int(os.environ.get("WIDE", 64))', "WIDE=128 python train.py\n", 32 * 128 + 128 + 128 * 10 + 10),
    ],
)
def test_a_width_of_the_environment(checkout: Build, asked: str, start: str, expected: int) -> None:
    found = analyze(checkout({"train.py": PROGRAM.format(asked=asked), "run.sh": start})).findings
    assert [each.value for each in found if each.field == "media.own_parameters"] == [str(expected)]


def test_a_width_that_nobody_says_is_not_known(checkout: Build) -> None:
    found = analyze(checkout({"train.py": PROGRAM.format(asked='int(os.getenv("WIDE"))')})).findings
    assert not [each for each in found if each.field == "media.own_parameters" and each.confidence.name == "HIGH"]
