"""Each table of a row gets its own part of an input of which nothing is known."""

from __future__ import annotations

import pytest

from tests.support.networks import Build, network

TABLES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(1000, 16, mode="sum") for _ in range(8)])
        self.top = nn.Linear(16 * 8, 1)

    def forward(self, sparse, offsets):
        return self.top(torch.cat([{each}], 1))

net = Net()
"""


@pytest.mark.parametrize(
    "each",
    [
        "table(s, o) for table, s, o in zip(self.tables, sparse, offsets)",
        "table(s) for s, table in zip(sparse, self.tables)",
        "table(sparse[k]) for k, table in enumerate(self.tables)",
    ],
)
def test_all_tables_of_a_row_are_reached(checkout: Build, each: str) -> None:
    found = network(checkout, TABLES.format(each=each))
    assert found.parameters == 8 * 1000 * 16 + 16 * 8 + 1
    assert found.unknown == 0
