"""A network whose configuration lies in the folder of a saved model: its class's defaults are not what it is built with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
CONFIG = """
from transformers import PretrainedConfig

class NetConfig(PretrainedConfig):
    def __init__(self, width=64, layers=2, **kwargs):
        self.width = width
        self.layers = layers
        super().__init__(**kwargs)
"""
PROGRAM = """
import torch
from torch import nn
from transformers import AutoConfig
from net.configuration import NetConfig

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(config.width, config.width, bias=False) for _ in range(config.layers)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

if __name__ == "__main__":
    model = Net({config}).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
"""
SAVED = json.dumps({"width": 256, "layers": 3, "rope": {"a": 1}, "model_type": "net"})
DEFAULT = 2 * 64 * 64


@pytest.mark.parametrize(
    ("config", "saved", "parameters"),
    [
        ('NetConfig.from_pretrained("./net")', SAVED, 3 * 256 * 256),
        ('NetConfig.from_pretrained("net/")', SAVED, 3 * 256 * 256),
        ('NetConfig.from_json_file("net/config.json")', SAVED, 3 * 256 * 256),
        ('AutoConfig.from_pretrained("net")', SAVED, 3 * 256 * 256),
        # What the call says itself goes before the file.
        ('NetConfig.from_pretrained("net", layers=5)', SAVED, 5 * 256 * 256),
        # Folders that are not here, outside of the checkout or whose file is none, leave what the class starts with.
        ('NetConfig.from_pretrained("other")', SAVED, DEFAULT),
        ('NetConfig.from_pretrained("/net")', SAVED, DEFAULT),
        ('NetConfig.from_pretrained("../net")', SAVED, DEFAULT),
        ('NetConfig.from_pretrained("net")', "[1, 2", DEFAULT),
        ('NetConfig.from_pretrained("net")', "[1, 2]", DEFAULT),
        ("NetConfig()", SAVED, DEFAULT),
    ],
)
def test_a_saved_models_folder_says_how_it_is_built(checkout: Build, config: str, saved: str, parameters: int) -> None:
    files = {
        "train.py": PROGRAM.format(config=config), "net/configuration.py": CONFIG, "net/__init__.py": "", "net/config.json": saved,
    }  # fmt: skip
    found = [f.value for f in analyze(checkout(files)).findings if f.field == "media.own_parameters"]
    assert found == [str(parameters)]
