"""A program's own switch for a card, which is off unless somebody gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=1e-3)
parser.add_argument({})
args = parser.parse_args()
{}
net = torch.nn.Conv2d(9, 9, 3).to(device)
torch.optim.Adam(net.parameters())
net(1).backward()
"""
ASKS = "device = torch.device('cuda' if args.cuda else 'cpu')"
README = "# Net\nFast on a GPU.\n```\npython train.py {}\n```\n"
OFF = "'--cuda', action='store_true', help='run on CUDA (default: False)'"


@pytest.mark.parametrize(
    ("option", "asks", "given", "expected"),
    [
        (OFF, ASKS, "--lr 1e-3", "cpu-only"),
        (OFF, ASKS, "--cuda", "training"),
        ("'--cuda', action='store_false'", ASKS, "--lr 1e-3", "training"),
        ("'--cuda', type=bool, default=True", ASKS, "--lr 1e-3", "training"),
        (OFF, "device = torch.device('cuda')", "--lr 1e-3", "training"),
        (OFF, "device = 'cuda' if torch.cuda.is_available() else 'cpu'", "--lr 1e-3", "training"),
        (
            "'--no_cuda', type=bool, default=True",
            "args.cuda = not args.no_cuda and torch.cuda.is_available()\n" + ASKS,
            "--lr 1e-3",
            "cpu-only",
        ),
        (
            "'--no_cuda', action='store_true'",
            "args.cuda = not args.no_cuda and torch.cuda.is_available()\n" + ASKS,
            "--lr 1e-3",
            "training",
        ),
    ],
)
def test_an_option_that_nobody_gives(checkout: Build, option: str, asks: str, given: str, expected: str) -> None:
    tree = checkout({"README.md": README.format(given), "train.py": PROGRAM.format(option, asks)})
    assert analyze(tree).spec.meta.workload_type.value == expected


def test_another_command_gives_it(checkout: Build) -> None:
    more = README.format("--lr 1e-3") + README.format("--lr 1e-4 --cuda")
    tree = checkout({"README.md": more, "train.py": PROGRAM.format(OFF, ASKS)})
    assert analyze(tree).spec.meta.workload_type.value == "training"


@pytest.mark.parametrize(("said", "expected"), [("False", "cpu-only"), ("True", "training")])
def test_a_setting_that_the_program_refuses(checkout: Build, said: str, expected: str) -> None:
    agent = "import torch\ndef learn(config):\n    net = torch.nn.Linear(9, 9).to('cuda:0' if config.use_GPU else 'cpu')\n    torch.optim.Adam(net.parameters())\n    net(1).backward()\n"
    program = f"from agent import learn\nfrom config import Config\nconfig = Config()\nconfig.use_GPU = {said}\nif __name__ == '__main__':\n    learn(config)\n"
    tree = checkout(
        {"README.md": README.format(""), "agent.py": agent, "config.py": "class Config: pass\n", "train.py": program}
    )
    assert analyze(tree).spec.meta.workload_type.value == expected


MXNET = """import argparse
import mxnet as mx
from mxnet import autograd, gluon
parser = argparse.ArgumentParser()
parser.add_argument('--cuda', action='store_true', default=False, help='Train on GPU with CUDA')
opt = parser.parse_args()
net = gluon.nn.Dense(10)
trainer = gluon.Trainer(net.collect_params(), 'sgd')
with autograd.record():
    loss = net(1)
loss.backward()
{}
"""


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("if opt.cuda:\n    ctx = mx.gpu(0)\nelse:\n    ctx = mx.cpu()", "cpu-only"),
        ("if opt.lr:\n    ctx = mx.gpu(0)", "training"),
        ("ctx = mx.gpu(0)", "training"),
    ],
)
def test_mxnet_stays_on_the_cpu_until_it_is_told(checkout: Build, moves: str, expected: str) -> None:
    tree = checkout({"README.md": README.format("--lr 1e-3"), "train.py": MXNET.format(moves)})
    assert analyze(tree).spec.meta.workload_type.value == expected


SILENT = "# Net\n" + "It learns what a text is about. " * 20
PICKS = "'--device', default='cpu'"


@pytest.mark.parametrize(
    ("readme", "given", "expected"),
    [
        (SILENT, "--device cpu", "cpu-only"),
        (SILENT, "--device cuda", "training"),
        (SILENT, "--lr 1e-3", "training"),
        (SILENT + "\n```\npython train.py --device cuda\n```\n", "--device cpu", "training"),
        (SILENT + " A GPU makes it faster.", "--device cpu", "training"),
    ],
)
def test_a_command_that_sends_it_to_the_cores(checkout: Build, readme: str, given: str, expected: str) -> None:
    program = PROGRAM.format(PICKS, "device = args.device")
    tree = checkout({"README.md": readme, "train.py": program, "run.sh": f"python train.py {given}\n"})
    assert analyze(tree).spec.meta.workload_type.value == expected
