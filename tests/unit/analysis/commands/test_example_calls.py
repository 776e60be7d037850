"""What a launch script's own remarks show that it is handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument('--gpu')
parser.add_argument('--data')
args = parser.parse_args()
model = torch.nn.DataParallel(torch.nn.Linear(3, 3)).cuda()
loss = model(torch.ones(3).cuda()).sum()
loss.backward()
"""
SCRIPT = """#!/bin/bash
# Usage:
# ./scripts/train.sh GPU DATASET [options]
#
{}
GPU_ID=$1
DATASET=$2
python train.py --gpu ${{GPU_ID}} --data $DATASET
"""


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        ("# Example:\n# ./scripts/train.sh 0,1,2,3 coco", {"gpu": "0,1,2,3", "data": "coco"}),
        ("# e.g.: bash train.sh 0,1 coco", {"gpu": "0,1", "data": "coco"}),
        ("# ./scripts/test.sh 0,1,2,3 coco", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
        ("# scripts/train.sh is for several", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
        ("# bash train.sh starts everything", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
        ("# Usage: bash train.sh gpu_ids v1", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
        ("# train.sh reads boxes", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
        ("# ./scripts/train.sh <gpus> coco", {"gpu": "${GPU_ID}", "data": "$DATASET"}),
    ],
)
def test_an_example_in_the_remarks_fills_the_places(checkout: Build, remark: str, expected: dict[str, str]) -> None:
    tree = checkout({"train.py": TRAIN, "scripts/train.sh": SCRIPT.format(remark)})
    assert [dict(command.options) for command in launch_commands(tree)] == [expected]


def test_who_calls_the_script_says_what_it_is_handed(checkout: Build) -> None:
    script = SCRIPT.format("# ./scripts/train.sh 0,1,2,3 coco")
    readme = "# Boxes\n## Training\n```\n{}\n```\n"
    files = {"train.py": TRAIN, "scripts/train.sh": script}
    called = checkout({**files, "README.md": readme.format("./scripts/train.sh 0,1 voc")})
    assert analyze(called).spec.hardware.gpu_count == 2
    bare = checkout({**files, "README.md": readme.format("./scripts/train.sh")})
    assert analyze(bare).spec.hardware.gpu_count == 4


def test_a_value_of_the_script_s_own_stands(checkout: Build) -> None:
    script = "# bash train.sh 1\nGPUS=${1:-8}\ntorchrun --nproc_per_node=$GPUS train.py\n"
    tree = checkout({"train.py": TRAIN, "train.sh": script})
    assert analyze(tree).spec.hardware.gpu_count == 8
