"""Of sampled graphs a network keeps what it computes of every neighbour."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.sampled_graphs import numbers_per_node

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """
import torch
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import GraphSAGE
loader = NeighborLoader(data, {neighbors}, batch_size=1024, input_nodes=nodes)
model = GraphSAGE(64, hidden_channels={width}, num_layers=3, out_channels=8).cuda()
opt = torch.optim.Adam(model.parameters())
loss.backward()
opt.step()
"""


@pytest.mark.parametrize(
    ("neighbors", "kept"),
    [
        ("num_neighbors=[10, 5]", 31 * 128 * 2 * 3),  # 1 + 10 + 50 nodes, of which half are different ones
        ("num_neighbors=[4] * 2", 11 * 128 * 2 * 3 - 384),
        ("num_neighbors={('a', 'to', 'b'): [10, 5]}", 31 * 128 * 2 * 3),
        ("[10, 5]", 31 * 128 * 2 * 3),
        # A test's loader, and a remark.
        ("num_neighbors=[2, 2])\nloader = NeighborLoader(data, num_neighbors=[10, 5]", 31 * 128 * 2 * 3),
        ("num_neighbors=[10, 5])  # num_neighbors=[50, 50]\nprint(1", 31 * 128 * 2 * 3),
        ("num_neighbors=[10, 5])\nlast = Decoder(8, hidden_channels=16", 31 * 128 * 2 * 3),
        ("num_neighbors=[10, 5])\nlast = GAT(8, hidden_channels=128, heads=4", 31 * 128 * 2 * 3),
        ("num_neighbors=[10, 5])\nlast = Ours(8, hidden_channels=128, heads=4", 31 * 512 * 2 * 3),
        ("num_neighbors=[-1, -1]", None),
        ("num_neighbors=given", None),
        ("num_neighbors=FANS)\nFANS = [10, 5]\nprint(1", 31 * 128 * 2 * 3),
        (f"num_neighbors=[{', '.join(['9'] * 20)}]", None),
    ],
)
def test_what_is_kept_for_each_node_of_a_batch(checkout: Build, neighbors: str, kept: int | None) -> None:
    tree = checkout({"train.py": TRAIN.format(neighbors=neighbors, width=128)})
    said = numbers_per_node(tree.sources[0])
    assert said == pytest.approx(kept, rel=0.05) if kept is not None else said is None


def test_wide_layers_over_many_neighbors_need_a_large_card(checkout: Build) -> None:
    def needed(neighbors: str, width: int) -> int:
        tree = checkout({"train.py": TRAIN.format(neighbors=neighbors, width=width)})
        return analyze(tree).spec.hardware.vram_required_gb

    assert needed("num_neighbors=[10, 5]", 64) == 12
    assert needed("num_neighbors=[12, 12, 12]", 1024) > 20
