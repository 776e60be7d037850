"""A card that is left off by its number, or by the run's own configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
CHAINER = """import argparse
import chainer
import chainer.links as L
parser = argparse.ArgumentParser()
parser.add_argument('--epoch', type=int, default=20)
parser.add_argument({})
args = parser.parse_args()
device = chainer.get_device(args.{})
net = L.Linear(784, 10)
net.to_device(device)
trainer = chainer.training.Trainer(updater, (args.epoch, 'epoch'))
trainer.run()
"""
README = "# Digits\n```\npython train.py {}\n```\n"


def workload(tree: Checkout) -> str:
    return analyze(tree).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("option", "name", "given", "expected"),
    [
        ("'--gpu', '-g', type=int, default=-1, help='GPU ID (negative value indicates CPU)'", "gpu", "", "cpu-only"),
        ("'--device', '-d', default='-1', help='a negative one is the CPU'", "device", "--epoch 3", "cpu-only"),
        ("'--gpu', '-g', type=int, default=-1, help='GPU ID (negative value indicates CPU)'", "gpu", "--gpu 0", "training"),
        ("'--gpu', '-g', type=int, default=-1, help='GPU ID (negative value indicates CPU)'", "gpu", "-g 0", "training"),
        ("'--gpu', '-g', type=int, default=-1, help='GPU ID (negative value indicates CPU)'", "gpu", "--gpu $ID", "training"),
        ("'--gpu', type=int, default=0, help='GPU ID (negative value indicates CPU)'", "gpu", "", "training"),
        ("'--gpu', type=int, default=-1, help='which'", "gpu", "", "training"),
        # Lightning takes all cards by -1, and what is compared with 0 may be anything.
        ("'--gpus', type=int, default=-1, help='how many')\nassert args > 0\nprint(", "gpus", "", "training"),
        ("'--gpu', type=int, default=-1)\nif step > 0 or step != -1:\n    print(", "gpu", "", "training"),
        ("'--gpu', type=int, default=-1)\nprint(args.gpu >= 0)\nprint(", "gpu", "", "cpu-only"),
    ],
)  # fmt: skip
def test_a_number_below_zero_is_the_cpu_where_the_program_says_so(
    checkout: Build, option: str, name: str, given: str, expected: str
) -> None:
    tree = checkout({"README.md": README.format(given), "train.py": CHAINER.format(option, name)})
    assert workload(tree) == expected


@pytest.mark.parametrize(
    ("setting", "given", "expected"),
    [
        ("  use_gpu: False", "", "cpu-only"),
        ("  use_gpu: True", "", "training"),
        ("  num_gpus: 0", "", "cpu-only"),
        ("  num_gpus: 2", "", "training"),
        ("  gpu: 0", "", "training"),  # the number of a card
        ("  reader:\n    use_gpu: False", "", "training"),  # of what reads the data
        ("  use_gpu: False", "--use_gpu True", "training"),
    ],
)
def test_a_run_s_own_configuration_leaves_it_off(checkout: Build, setting: str, given: str, expected: str) -> None:
    program = CHAINER.format("'--config'", "config").replace("chainer.get_device", "read")
    tree = checkout(
        {
            "README.md": README.format(f"--config config.yaml {given}"),
            "train.py": program,
            "config.yaml": f"runner:\n{setting}\n  epochs: 3\n",
        }
    )
    assert workload(tree) == expected


def test_a_program_that_counts_its_cards_itself_has_them_whatever_its_configuration_says(checkout: Build) -> None:
    counts = "if torch.cuda.is_available():\n    h.num_gpus = torch.cuda.device_count()\n"
    program = CHAINER.format("'--config'", "config").replace("chainer.get_device", "read")
    files = {"README.md": README.format("--config config.json"), "config.json": '{"num_gpus": 0, "batch_size": 4}'}
    assert workload(checkout({**files, "train.py": program})) == "cpu-only"
    assert workload(checkout({**files, "train.py": f"{program}{counts}"})) == "training"


def test_a_program_that_can_be_told_to_leave_the_card_takes_one_without_being_told_its_number(checkout: Build) -> None:
    program = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument('--no-cuda', action='store_true', help="Use CPU only")
parser.add_argument('--gpu', type=int, default=-1, help="which one")
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()
if args.cuda:
    torch.cuda.set_device(args.gpu)
model = torch.nn.Linear(3, 3)
if args.cuda:
    model.cuda()
model.eval()
print(model.predict(torch.ones(3)))
"""
    tree = checkout({"README.md": "# Answers\n```\npython ask.py\n```\n", "ask.py": program})
    assert workload(tree) == "inference"


def test_a_number_whose_sign_is_asked_for_leaves_the_card_beside_a_switch(checkout: Build) -> None:
    program = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument('--no-cuda', action='store_true')
parser.add_argument('--gpu', type=int, default=-1)
args = parser.parse_args()
cuda = not args.no_cuda and args.gpu >= 0 and torch.cuda.is_available()
model = torch.nn.Linear(3, 3).to(f'cuda:{args.gpu}' if cuda else 'cpu')
model.eval()
print(model.predict(torch.ones(3)))
"""
    tree = checkout({"README.md": "# Answers\n```\npython ask.py\n```\n", "ask.py": program})
    assert workload(tree) == "cpu-only"


@pytest.mark.parametrize(
    ("given", "expected"), [("--gpu 0 1 2 3", "training"), ("--gpu -1", "cpu-only"), ("", "cpu-only")]
)
def test_a_command_of_the_projects_own_gives_it_too(checkout: Build, given: str, expected: str) -> None:
    option = "'--gpu', '-g', type=int, default=-1, help='GPU ID (negative value indicates CPU)'"
    tree = checkout({"run.sh": f"netlib_train --model a {given}\n", "train.py": CHAINER.format(option, "gpu")})
    assert workload(tree) == expected
