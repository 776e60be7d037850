"""Loops of programs that are followed: rounds of a training are not repeated, lists and layers that loops build are whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes

Build = Callable[[Mapping[str, str]], Checkout]
NET = """
import math
import torch
from torch import nn

def table(positions, width):
    return [[math.sin(p / 10000 ** (i / width)) for i in range(width)] for p in range(positions)]

class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.positions = table(500, 500)
        self.rows = nn.ModuleList([nn.Linear(width, width) for width in widths])

    def forward(self, x):
        for row in self.rows:
            x = row(x)
        return x
"""
TRAIN = """
import torch
from net import Net

def flatten(value):
    found = []
    for key in value:
        found.extend(flatten(value[key]))
    return found

def step(model, batch):
    a = torch.mean(batch); b = a + 1; c = b * 2; d = torch.sum(c); e = torch.abs(d); f = torch.exp(e)
    {many}
    return f

def main():
    widths = []
    for place in range(100):
        widths.append(10)
    model = Net(widths).cuda()
    notes = flatten(load())
    for epoch in range(500):
        {each}
        for batch in range(500):
            loss = step(model, batch)
            loss.backward()
    late = Net(widths + [20])

if __name__ == '__main__':
    main()
"""
SIDE = InputSizes(side=224)


@pytest.mark.parametrize("each", ["pass", "copy = Net(widths)"])  # what is built to evaluate is built each time
def test_what_a_loop_builds_is_whole_and_what_it_trains_costs_two_rounds(checkout: Build, each: str) -> None:
    many = "; ".join(f"x{n} = torch.abs(f)" for n in range(40))
    tree = checkout(
        {
            "net.py": NET,
            "train.py": TRAIN.replace("{many}", many).replace("{each}", each),
            "requirements.txt": "torch\n",
        }
    )
    sources = [next(s for s in tree.sources if s.path == path) for path in ("train.py", "net.py")]
    network = own_network(sources, SIDE)
    assert network is not None
    # The network behind the loop is built as well: the steps are not gone by then.
    assert network.parameters == 100 * (10 * 10 + 10) + 20 * 20 + 20


@pytest.mark.parametrize(("said", "is_whole"), [("loss.item()", False), ("loss.count()", True)])
def test_a_loop_that_reads_a_number_off_a_tensor_evaluates_and_costs_two_rounds(
    checkout: Build, said: str, is_whole: bool
) -> None:
    # Short rounds: they are no longer than those that fill a list.
    program = (
        "import torch\nfrom net import Net\nwidths, losses = [10], []\n"
        f"for batch in range(30):\n    loss = torch.mean(batch)\n    losses.append({said})\n    widths.append(10)\n"
        "net = Net(widths)\n"
    )
    tree = checkout({"net.py": NET, "train.py": program, "requirements.txt": "torch\n"})
    network = own_network([next(s for s in tree.sources if s.path == path) for path in ("train.py", "net.py")], SIDE)
    assert network is not None
    assert network.parameters == (31 if is_whole else 3) * (10 * 10 + 10)


@pytest.mark.parametrize("first", ["[0.0] * width", "np.zeros(width)"])
def test_a_table_whose_first_row_is_said_apart_costs_no_more_steps_than_another(checkout: Build, first: str) -> None:
    rows = f"[[p / np.power(10000, i / width) for i in range(width)] if p != 0 else {first} for p in range(500)]"
    net = NET.replace("import math", "import math\nimport numpy as np").replace("return [[", f"return {rows}\n    [[")
    program = (
        "import torch\nfrom net import Net\nnets = [Net([10]), Net([10]), Net([10]), Net([10])]\nlate = Net([10, 20])\n"
    )
    tree = checkout({"net.py": net, "train.py": program, "requirements.txt": "torch\n"})
    network = own_network([next(s for s in tree.sources if s.path == path) for path in ("train.py", "net.py")], SIDE)
    assert network is not None
    assert network.parameters == 10 * 10 + 10 + 20 * 20 + 20  # the last one: steps are left for it
