"""Options that a command leaves to its reader."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.unfilled_options import filled, is_unfilled
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.runs.settings import look_up, scope_of
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    "value",
    ["$SIZE", "${SIZE}", '"${SIZE}"', "<size>", "<7b, 13b>", "<7b,", "{size}", "[SIZE]", "YOUR_SIZE", "your-size", "XXX"],
)  # fmt: skip
def test_a_place_to_fill_in_is_no_value(value: str) -> None:
    assert is_unfilled(value)
    assert filled({"size": value, "lr": "1e-4"}) == {"lr": "1e-4"}


@pytest.mark.parametrize(
    "value",
    ["7b", "", "None", "path/to/model", "/path/to/checkpoint-dir", "$MODEL_PATH", "<ckpt>", "<model dir>", "YOUR_WEIGHTS", "$MODELS/llama-7b", "checkpoint-${STEP}", '{"a": 1}', "{a,b}", "[0,1]", "[256]", "x", "meta-llama/Llama-2-7b-hf", "yourself"],
)  # fmt: skip
def test_what_is_said_stays(value: str) -> None:
    assert not is_unfilled(value)


@pytest.mark.parametrize(
    ("given", "size", "batch"),
    [
        ("--size $SIZE --batch_size <n>", "4b", "16"),
        ("--size 12b --batch_size 8", "12b", "8"),
        ("--batch_size 8", "4b", "8"),
        ("--size None", "4b", "16"),
        ("--other $OTHER", "4b", "16"),
    ],
)
def test_a_program_starts_with_its_own_where_the_command_leaves_it_open(
    checkout: Build, given: str, size: str, batch: str
) -> None:
    program = (
        "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--size', default='4b')\n"
        "p.add_argument('--batch_size', type=int, default=16)\np.add_argument('--other')\nargs = p.parse_args()\n"
        "loss.backward()\noptimizer.step()\n"
    )
    tree = checkout({"train.py": program, "README.md": f"```\npython train.py {given}\n```\n"})
    scope = scope_of(tree, primary_run(tree))
    found = {name: look_up(scope, [name]) for name in ("size", "batch_size", "other")}
    assert (found["size"] and found["size"].text) == (None if "None" in given else size)
    assert found["batch_size"] is not None
    assert found["batch_size"].text == batch
    # What the program starts with nothing is still something that is given.
    assert (found["other"] and found["other"].text) == ("$OTHER" if "$OTHER" in given else None)


NETWORK = """
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
    found = analyze(checkout({"README.md": readme, "run.py": NETWORK})).findings
    assert [int(f.value) for f in found if f.field == "media.own_parameters"] == [parameters]
