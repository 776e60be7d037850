"""Forecasters of time series, whose models lie one to a file under one class name, on small repositories of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
RUN = """
import argparse
import torch
from models import Wide, Narrow

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='Narrow')
parser.add_argument('--seq_len', type=int, default=96)
parser.add_argument('--enc_in', type=int, default=7)
parser.add_argument('--d_model', type=int, default=64)
parser.add_argument('--batch_size', type=int, default=16)
args = parser.parse_args()
chosen = {'Wide': Wide, 'Narrow': Narrow}
net = chosen[args.model].Model(args).float().cuda()
opt = torch.optim.Adam(net.parameters())
loss.backward()
"""
MODEL = """
from torch import nn

class Model(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.embed = nn.Linear(configs.seq_len, configs.d_model * FACTOR)

    def forward(self, x_enc, x_mark_enc):
        return self.embed(x_enc.permute(0, 2, 1))
"""


def test_a_forecaster_is_the_model_of_the_named_file_and_is_given_all_variables(checkout: Build) -> None:
    tree = checkout(
        {
            "run.py": RUN,
            "models/__init__.py": "",
            "models/Wide.py": MODEL.replace("FACTOR", "8"),
            "models/Narrow.py": MODEL.replace("FACTOR", "1"),
            "train.sh": "python run.py --model Wide --enc_in 862\n",
        }
    )
    analysis = analyze(tree)
    known = {finding.field: finding.value for finding in reversed(analysis.findings)}
    assert known["media.own_parameters"] == str(96 * 512 + 512)
    assert known["media.own_outputs"] == str(862 * 512)


def test_sensors_of_a_graph_over_time_stand_side_by_side(checkout: Build) -> None:
    code = (
        "import argparse\nimport torch\nfrom torch import nn\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--num_nodes', type=int, default=137)\nparser.add_argument('--seq_in_len', type=int, default=168)\n"
        "parser.add_argument('--in_dim', type=int, default=1)\nargs = parser.parse_args()\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.start = nn.Conv2d(1, 16, kernel_size=(1, 1))\n\n"
        "    def forward(self, input, idx=None):\n        return self.start(input)\n\nnet = Net().cuda()\n"
        "opt = torch.optim.Adam(net.parameters())\nloss.backward()\n"
    )
    known = {finding.field: finding.value for finding in reversed(analyze(checkout({"train.py": code})).findings)}
    assert known["media.own_outputs"] == str(16 * 137 * 168)
