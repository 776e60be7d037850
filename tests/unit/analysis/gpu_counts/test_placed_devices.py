"""Cards that a program takes by its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MESH = (
    "import torch\nfrom torch.distributed.device_mesh import init_device_mesh\n"
    "from torch.distributed.tensor.parallel import parallelize_module\n"
    "if __name__ == '__main__':\n    net = torch.nn.Linear(8, 8)\n    {}\n    {}\n"
)
LEARNS = "torch.optim.AdamW(net.parameters()).step()"


@pytest.mark.parametrize(
    ("divides", "learns", "cards"),
    [
        ("parallelize_module(net, init_device_mesh('cuda', (world,)), plan)", LEARNS, 4),
        ("parallelize_module(net, init_device_mesh('cuda', (2,)), plan)", LEARNS, 2),
        ("net.cuda()", LEARNS, 1),
        ("parallelize_module(net, init_device_mesh('cuda', (world,)), plan)", "net(1)", 1),
    ],
)
def test_a_model_over_a_mesh_of_however_many(checkout: Build, divides: str, learns: str, cards: int) -> None:
    tree = checkout({"split.py": MESH.format(divides, learns), "requirements.txt": "torch\n"})
    assert analyze(tree).spec.hardware.gpu_count == cards
