"""Options that a command leaves to its reader say nothing of what the run has: the program's own value does."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.left_open import is_left_open
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$VARIANT", True), ("${VARIANT}", True), ('"$VARIANT"', True), ("<size>", True), ("{model}", True), ("<1b, 2b>", True),
        ("$HOME/model", False), ("4b", False), ("${A}-${B}", False), ("{}", False), ("$1.50", False),
    ],
)  # fmt: skip
def test_a_value_that_is_a_name_alone_is_left_open(text: str, expected: bool) -> None:
    assert is_left_open(text) is expected


PROGRAM = """
import argparse
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--size", default="small")
args = parser.parse_args()
WIDTHS = {"small": 256, "large": 4096}
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Linear(width, width))
if __name__ == "__main__":
    if args.size == "small":
        net = Net(256)
    else:
        net = Net(4096)
    torch.load("a.pt")
    net.cuda()(x)
"""


@pytest.mark.parametrize(
    ("size", "parameters"), [("$SIZE", 131584), ("<size>", 131584), ("large", 33562624), ("small", 131584)]
)
def test_the_program_s_own_value_stands_for_one_that_is_left_open(checkout: Build, size: str, parameters: int) -> None:
    readme = f"# Net\n```\npython run.py --size {size}\n```\n"
    found = analyze(checkout({"README.md": readme, "run.py": PROGRAM})).findings
    assert [int(f.value) for f in found if f.field == "media.own_parameters"] == [parameters]
