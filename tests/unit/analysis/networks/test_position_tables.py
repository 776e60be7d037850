"""A transformer of one's own has a row for each position that its texts may have: they are as long where nothing else says it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import Analysis, analyze
from tests.unit.analysis.conftest import Build

NET = """import torch
import torch.nn as nn
from somewhere import batches


class Net(nn.Module):
    def __init__(self, reach):
        super().__init__()
        self.table = nn.Embedding(32000, 512)
        {made}
        self.body = nn.ModuleList([nn.TransformerEncoderLayer(512, 8, 2048) for _ in range(12)])
        self.head = nn.Linear(512, 32000)

    def forward(self, x):
        {asked}
        for part in self.body:
            h = part(h)
        return self.head(h)


net = Net(1536).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for x, y in batches():
    nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten()).backward()
    optimizer.step()
"""
TABLE = "self.place = nn.Embedding(reach, 512)"
WAYS = {
    "counted": (TABLE, "p = torch.arange(x.size(1), device=x.device)\n        h = self.table(x) + self.place(p)"),
    "counted in place": (TABLE, "h = self.table(x) + self.place(torch.arange(x.shape[1]).unsqueeze(0).expand_as(x))"),
    "cut weights": (TABLE, "h = self.table(x) + self.place.weight[: x.size(1)]"),
    "a parameter": (
        "self.place = nn.Parameter(torch.zeros(1, reach, 512))",
        "h = self.table(x) + self.place[:, : x.size(1)]",
    ),
    "in a dictionary": (
        "self.tables = nn.ModuleDict({'place': nn.Embedding(reach, 512)})",
        "p = torch.arange(0, x.size(1))\n        h = self.table(x) + self.tables.place(p)",
    ),
}


def value(analysis: Analysis, field: str) -> str:
    found = [f for f in analysis.findings if f.field == field]
    return max(found, key=lambda f: f.confidence).value if found else ""


@pytest.mark.parametrize("way", WAYS)
def test_its_texts_are_as_long_as_its_table_of_positions(checkout: Build, way: str) -> None:
    made, asked = WAYS[way]

    analysis = analyze(checkout({"train.py": NET.format(made=made, asked=asked), "requirements.txt": "torch\n"}))

    assert value(analysis, "media.own_positions") == "1536"
    short = analyze(
        checkout(
            {
                "train.py": NET.format(made=made, asked=asked).replace("Net(1536)", "Net(192)"),
                "requirements.txt": "torch\n",
            }
        )
    )
    assert short.spec.hardware.vram_required_gb < analysis.spec.hardware.vram_required_gb


OTHERS = {
    "words alone": ("self.kind = nn.Embedding(1536, 512)", "h = self.table(x) + self.kind(x)"),
    "a table for kinds": ("self.kind = nn.Embedding(2, 512)", "h = self.table(x) + self.kind(torch.arange(2)).sum(0)"),
    "labels": (
        "self.kind = nn.Embedding(1536, 512)",
        "h = self.table(x) + self.kind(torch.arange(1536, device=x.device)).mean(0)",
    ),
    "all that may be recommended": (
        "self.kind = nn.Embedding(reach + 1, 512)\n        self.n = reach",
        "h = self.table(x) + self.kind(torch.arange(1, self.n + 1)).mean(0)",
    ),
    "room for whatever may come": (
        "self.place = nn.Parameter(torch.zeros(1, 5000, 512))",
        "h = self.table(x) + self.place[:, : x.size(1)]",
    ),
    "nothing": ("self.scale = 1536", "h = self.table(x) * self.scale"),
}


@pytest.mark.parametrize("way", OTHERS)
def test_other_tables_say_nothing_of_positions(checkout: Build, way: str) -> None:
    made, asked = OTHERS[way]

    analysis = analyze(checkout({"train.py": NET.format(made=made, asked=asked), "requirements.txt": "torch\n"}))

    assert value(analysis, "media.own_positions") == ""


def test_of_several_tables_the_smallest_is_that_of_positions(checkout: Build) -> None:
    made = TABLE + "\n        self.far = nn.Embedding(4000, 512)"
    asked = "n = x.size(1)\n        p = torch.arange(n)\n        h = self.table(x) + self.far(p) + self.place(p)"

    analysis = analyze(checkout({"train.py": NET.format(made=made, asked=asked), "requirements.txt": "torch\n"}))

    assert value(analysis, "media.own_positions") == "1536"


def test_padded_texts_are_shorter_than_the_table(checkout: Build) -> None:
    made, asked = WAYS["counted"]
    padded = NET.format(made=made, asked=asked).replace(
        "from somewhere import batches", "from somewhere import texts\nfrom torch.nn.utils.rnn import pad_sequence\n\n\ndef batches():\n    return [(pad_sequence(a), pad_sequence(b)) for a, b in texts()]"
    )  # fmt: skip

    whole = analyze(checkout({"train.py": NET.format(made=made, asked=asked), "requirements.txt": "torch\n"}))
    analysis = analyze(checkout({"train.py": padded, "requirements.txt": "torch\n"}))

    assert analysis.spec.hardware.vram_required_gb < whole.spec.hardware.vram_required_gb
