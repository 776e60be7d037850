"""A network of one's own in a program that trains it, as the analyzer follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.networks.measure import OwnNetwork
from gpu_lol_action.analysis.networks.sources import network_sources
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
HEAD = "import math\nimport einops\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
STEP = "\nnet = net.cuda()\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"

PICTURES = """
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from data import Pictures

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(*[nn.Conv2d(3 if i == 0 else 64, 64, 3, padding=1) for i in range(12)], nn.Conv2d(64, 3, 1))

    def forward(self, x):
        return self.net(x)

net = Net().cuda()
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(Pictures(), batch_size=64)
for batch in loader:
    loss = (net(batch) - batch).abs().mean()
    loss.backward()
    opt.step()
"""
"""A whole program; nothing says how large its pictures are."""


def network(checkout: Build, code: str, sizes: InputSizes | None = None) -> OwnNetwork:
    tree = checkout({"train.py": HEAD + code + STEP})
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), sizes or InputSizes(64))
    assert found is not None
    return found
