"""Classes whose fields begin with a shape that a file beside the weights overrides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = """from dataclasses import dataclass
import torch
from torch import nn

@dataclass
class ModelArgs:
    dim: int = 512
    n_layers: int = 8
    n_heads: int = 8
    vocab_size: int = -1

class Transformer(nn.Module):
    def __init__(self, params: ModelArgs):
        super().__init__()
        self.layers = make(params)
"""
PROGRAM = """import json
import sys
import torch
from model import ModelArgs, Transformer

with open(sys.argv[1] + "/params.json") as file:
    {loaded}
model_args = ModelArgs(max_seq_len=2048, **{handed})
model = Transformer(model_args).cuda()
optimizer = torch.optim.AdamW(model.parameters())
loss.backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("loaded", "handed", "layers"),
    [
        ("params = json.loads(file.read())", "params", None),
        ("params = json.load(file)", "params", None),
        ("params = json.load(file)", "own", "8"),  # something else is handed over
        ("params = file.read()", "params", "8"),
    ],
)
def test_a_shape_that_the_checkpoint_says_is_not_the_class_s(
    checkout: Build, loaded: str, handed: str, layers: str | None
) -> None:
    program = PROGRAM.replace("{loaded}", loaded).replace("{handed}", handed)
    files = {"train.py": program, "model.py": MODEL, "requirements.txt": "torch"}
    found = {finding.field: finding.value for finding in analyze(checkout(files)).findings}
    assert found.get("model.layers") == layers
