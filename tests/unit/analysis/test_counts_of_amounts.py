"""Amounts that are said of another number of cards than the run takes."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

OPEN = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.Linear(config.a, config.b)
    def forward(self, x):
        return self.layer(x)
if __name__ == '__main__':
    net = nn.DataParallel(Net(config).cuda())
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
        optimizer.step()
"""
SAID = "We trained on 4 V100 GPUs with 32GB memory.\n\nA smaller configuration was trained on a single 16GB GPU.\n"


@pytest.mark.parametrize(("processes", "size"), [(4, 32), (2, 16)])
def test_the_amount_is_that_of_as_many_cards(checkout: Build, processes: int, size: int) -> None:
    readme = f"# Net\n```\ntorchrun --nproc_per_node {processes} train.py\n```\n{SAID}"
    assert analyze(checkout({"train.py": OPEN, "README.md": readme})).spec.hardware.vram_required_gb == size
