"""Networks whose methods take their arguments in rare ways are followed as others are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.out = nn.Conv2d(8, 4, 1)

    def forward({parameters}):
        {first}
        return self.out(torch.relu(self.down(x)))

if __name__ == "__main__":
    net = Net().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.randn(8, 3, 64, 64).cuda()).sum().backward()
    optimizer.step()
"""


def kept(checkout: Build, parameters: str, first: str = "pass") -> tuple[int, int]:
    tree = checkout({"train.py": TRAIN.format(parameters=parameters, first=first), "requirements.txt": "torch\n"})
    network = own_network(tree.sources, InputSizes(side=64))
    assert network is not None
    return network.parameters, network.outputs


@pytest.mark.parametrize(
    "parameters", ["self, x, /", "self, x, /, **side", "self, /, x", "self, x, /, mask=None", "self, x, *, mask=None"]
)
def test_arguments_by_place_alone_change_nothing(checkout: Build, parameters: str) -> None:
    assert kept(checkout, parameters) == kept(checkout, "self, x")


def test_a_method_that_takes_anything_breaks_nothing(checkout: Build) -> None:
    parameters, _ = kept(checkout, "*given", "self, x = given")
    assert parameters == kept(checkout, "self, x")[0]
