"""A network of a library's is counted as part of one's own, however the program takes it by its name, apart, or by the environment."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from tests.unit.analysis.conftest import Build

PROGRAM = """import os
import timm
import torch
import torchvision
from torch import nn
from torchvision import models


class Net(nn.Module):
    def __init__(self, eyes="resnet101"):
        super().__init__()
        base = {base}
        self.features = {features}
        self.head = nn.Linear(2048, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


model = Net({given}).cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
BASES = (
    "models.resnet101()",
    "getattr(models, eyes)()",
    "getattr(torchvision.models, eyes)()",
    "models.__dict__[eyes]()",
    "models.get_model(eyes)",
    "timm.create_model(eyes)",
)
FEATURES = ("base", "nn.Sequential(*list(base.children())[:-1])", "nn.Sequential(*list(base.children())[:-2])")


def parameters(checkout: Build, base: str, features: str, given: str = "", **files: str) -> int:
    program = PROGRAM.format(base=base, features=features, given=given)
    found = detect_all(checkout({"requirements.txt": "torchvision\n", "train.py": program, **files}))
    return int(next((f.value for f in found if f.field == "media.own_parameters"), "0"))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("features", FEATURES)
def test_a_backbone_is_part_of_the_network(checkout: Build, base: str, features: str) -> None:
    assert 44_000_000 < parameters(checkout, base, features) < 46_000_000


@pytest.mark.parametrize(
    ("given", "script"),
    [
        ('os.environ["EYES"]', "export EYES=resnet18\npython train.py\n"),
        ('os.environ.get("EYES", "resnet101")', "EYES=resnet18 python train.py\n"),
        ('os.getenv("EYES", "resnet18")', "python train.py\n"),
    ],
)
def test_the_environment_names_a_backbone(checkout: Build, given: str, script: str) -> None:
    found = parameters(checkout, "getattr(models, eyes)()", "base", given, **{"run.sh": script})
    assert 11_000_000 < found < 13_000_000


@pytest.mark.parametrize("given", ["chosen()", 'os.environ["EYES"]', '"my_net"'])
def test_a_backbone_that_nothing_tells_is_not_counted(checkout: Build, given: str) -> None:
    base = f"getattr(models, {given})()"
    assert parameters(checkout, base, "base") < 1_000_000
