"""Configurations of OpenMMLab say by a wrapper of the optimizer, or by a section of its own, that they compute at 16 bit."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

CONFIG = """model = dict(type='FasterRCNN', backbone=dict(type='ResNet', depth=50))
train_dataloader = dict(batch_size=4, dataset=dict(type='CocoDataset'))
"""
TRAIN = """import argparse
from mmengine.config import Config
from mmengine.runner import Runner

parser = argparse.ArgumentParser()
parser.add_argument('config')
args = parser.parse_args()
Runner.from_cfg(Config.fromfile(args.config)).train()
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("optim_wrapper = dict(type='AmpOptimWrapper', optimizer=dict(type='SGD', lr=0.1))\n", "fp16"),
        ("optim_wrapper = dict(type='AmpOptimWrapper', dtype='bfloat16', optimizer=dict(type='SGD'))\n", "bf16"),
        ("fp16 = dict(loss_scale=512.)\n", "fp16"),
        ("optim_wrapper = dict(type='OptimWrapper', optimizer=dict(type='SGD', lr=0.1))\n", None),
        ("loss = dict(loss_scale=2.0)\n", None),
    ],
)
def test_sixteen_bit_is_what_a_configuration_says(checkout: Build, more: str, expected: str | None) -> None:
    files = {"requirements.txt": "mmdet\n", "configs/a.py": CONFIG + more, "tools/train.py": TRAIN}
    found = analyze(checkout({**files, "run.sh": "python tools/train.py configs/a.py\n"}))
    assert next((f.value for f in found.findings if f.field == "training.precision"), None) == expected
