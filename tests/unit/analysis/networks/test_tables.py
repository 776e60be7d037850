"""Networks that a file of the run lists row by row, as YOLOv5 and its successors write theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = """
import math
from copy import deepcopy
import torch
import torch.nn as nn
import yaml

def autopad(k, p=None):
    return k // 2 if p is None else p

class Conv(nn.Module):
    def __init__(self, c1, c2, k=1, s=1):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k), bias=False)

    def forward(self, x):
        return self.conv(x)

class Concat(nn.Module):
    def forward(self, x):
        return torch.cat(x, 1)

def parse_model(d, ch):
    gw = d['width_multiple']
    layers, save, c2 = [], [], ch[-1]
    for i, (f, n, m, args) in enumerate(d['backbone'] + d['head']):
        m = eval(m) if isinstance(m, str) else m
        for j, a in enumerate(args):
            args[j] = eval(a) if isinstance(a, str) else a
        if m in {Conv, nn.ConvTranspose2d}:
            c1, c2 = ch[f], args[0]
            c2 = make_divisible(c2 * gw, 8)
            args = [c1, c2, *args[1:]]
        elif m is nn.BatchNorm2d:
            args = [ch[f]]
        elif m is Concat:
            c2 = sum(ch[x] for x in f)
        else:
            c2 = ch[f]
        m_ = nn.Sequential(*(m(*args) for _ in range(n))) if n > 1 else m(*args)
        m_.i, m_.f = i, f
        save.extend(x % i for x in ([f] if isinstance(f, int) else f) if x != -1)
        layers.append(m_)
        if i == 0:
            ch = []
        ch.append(c2)
    return nn.Sequential(*layers), sorted(save)

class Model(nn.Module):
    def __init__(self, cfg='default.yaml', ch=3):
        super().__init__()
        if isinstance(cfg, dict):
            self.yaml = cfg
        else:
            with open(cfg) as f:
                self.yaml = yaml.safe_load(f)
        self.model, self.save = parse_model(deepcopy(self.yaml), ch=[ch])

    def forward(self, x):
        y = []
        for m in self.model:
            if m.f != -1:
                x = y[m.f] if isinstance(m.f, int) else [x if j == -1 else y[j] for j in m.f]
            x = m(x)
            y.append(x if m.i in self.save else None)
        return x
"""
LIBRARY = "from somewhere.general import make_divisible\n"
TRAIN = """
import argparse
import torch
from models.yolo import Model

parser = argparse.ArgumentParser()
parser.add_argument('--cfg', type=str, default='')
parser.add_argument('--imgsz', '--img', type=int, default=640)
parser.add_argument('--batch-size', type=int, default=16)
opt = parser.parse_args()
model = Model(opt.cfg).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.zeros(1)).sum()
loss.backward()
optimizer.step()
"""
TABLE = """
nc: 80
width_multiple: 0.5
backbone:
  - [-1, 1, Conv, [64, 3, 2]]
  - [-1, 1, Conv, [128, 3, 2]]
  - [-1, 1, Conv, [128, 3, 2]]
head:
  - [-1, 1, nn.Upsample, [None, 2, 'nearest']]
  - [[-1, 1], 1, Concat, []]
  - [-1, 1, Conv, [32, 1, 1]]
"""
WEIGHTS = 3 * 32 * 9 + 32 * 64 * 9 + 64 * 64 * 9 + 128 * 16
KEPT = 32 * 320**2 + 64 * 160**2 + 64 * 80**2 + (64 + 128 + 16) * 160**2


def files(command: str, **more: str) -> dict[str, str]:
    return {
        "README.md": f"```\n{command}\n```\n",
        "train.py": TRAIN,
        "models/yolo.py": LIBRARY + MODEL,
        "models/__init__.py": "",
        "requirements.txt": "torch\npyyaml",
        **more,
    }


def test_a_network_is_built_from_the_rows_of_the_file_that_the_command_names(checkout: Build) -> None:
    tree = checkout(files("python train.py --cfg models/small.yaml --batch-size 8", **{"models/small.yaml": TABLE}))
    found = {f.field: f.value for f in analyze(tree).findings if f.field.startswith("media.own")}
    assert found["media.own_parameters"] == str(WEIGHTS)
    assert found["media.own_outputs"] == str(KEPT)
    assert found["media.own_file"] == "yes"


def test_another_file_s_rows_are_not_the_run_s(checkout: Build) -> None:
    tree = checkout(files("python train.py --cfg models/large.yaml", **{"models/small.yaml": TABLE}))
    assert not [f for f in analyze(tree).findings if f.field == "media.own_file"]


def test_the_file_s_network_goes_before_a_name_that_a_program_starts_with(checkout: Build) -> None:
    more = {"models/small.yaml": TABLE, "utils/log.py": "def start(model_name='yolov3'):\n    pass\n"}
    tree = files("python train.py --cfg models/small.yaml", **more)
    tree["train.py"] = "from utils.log import start\n" + tree["train.py"]
    analysis = analyze(checkout(tree))
    assert analysis.breakdown is not None
    assert not [f for f in analysis.findings if f.field == "model.id" and f.confidence.name == "HIGH"]
    activations = next(term for term in analysis.breakdown.terms if term.name == "activations")
    assert "numbers kept per sample" in activations.basis  # of the layers that were read, not of YOLOv3
