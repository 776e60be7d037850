"""An option with which a program leaves before it trains."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.programs.early_leaves import early_leaves
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

PROGRAM = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("-e", "--evaluate", action="store_true")
parser.add_argument("--eval_checkpoint", default="")
parser.add_argument("--inference_dir", default=None)
args = parser.parse_args()


def main():
    net = torch.nn.Linear(2, 2).cuda()
    {}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(2)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
"""
JUDGES = "if args.{}:\n        validate(net)\n        return"


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (JUDGES.format("evaluate"), {"evaluate"}),
        (JUDGES.format("eval_checkpoint is not None"), {"eval_checkpoint"}),
        (JUDGES.format("inference_dir") + " None", {"inference_dir"}),
        ("if args.evaluate:  # measures\n        validate(net)\n\n        sys.exit(0)", {"evaluate"}),
        # It goes on, it trains there, or only one case of the block leaves.
        ("if args.evaluate:\n        validate(net)", set()),
        ("if args.evaluate:\n        train_one_epoch(net)\n        return", set()),
        ("if args.evaluate:\n        if slow:\n            return", set()),
        ("if args.mode == 'eval':\n        validate(net)\n        return", set()),
        ("if args.train_only:\n        prepare(net)\n        return", set()),
    ],
)
def test_the_block_of_such_an_option_ends_the_program(checkout: Build, block: str, expected: set[str]) -> None:
    tree = checkout({"main.py": PROGRAM.format(block)})
    source = tree.find("main.py")
    assert source is not None
    assert early_leaves(source) == expected


@pytest.mark.parametrize(
    ("block", "given", "expected"),
    [
        (JUDGES.format("eval_checkpoint"), "--eval_checkpoint path/to/net.pth", "train.sh"),
        (JUDGES.format("evaluate"), "-e", "train.sh"),
        (JUDGES.format("eval_checkpoint"), "--evaluate false", "README.md"),
        ("pass", "--eval_checkpoint path/to/net.pth", "README.md"),
    ],
)
def test_a_command_that_only_measures_is_no_training(checkout: Build, block: str, given: str, expected: str) -> None:
    readme = f"# Net\n## Test\n```\npython main.py {given}\n```\n## Train\n```\nbash train.sh\n```\n"
    script = "torchrun --nproc_per_node=4 main.py\n"
    tree = checkout({"README.md": readme, "train.sh": script, "main.py": PROGRAM.format(block)})
    run = primary_run(tree)
    assert run is not None
    assert run.evidence.path == expected


def test_a_command_that_uses_what_was_trained_infers(checkout: Build) -> None:
    readme = "# Flow\n```\npython main.py --inference_dir demo\n```\n"
    tree = checkout({"README.md": readme, "main.py": PROGRAM.format(JUDGES.format("inference_dir"))})
    assert analyze(tree).spec.meta.workload_type.value == "inference"
