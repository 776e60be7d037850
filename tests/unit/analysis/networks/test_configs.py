"""Networks that only a configuration names: Hydra's targets and OpenMMLab's types, on small repositories of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
NET = """
import torch
from torch import nn

class Mlp(nn.Module):
    def __init__(self, inner, outer, width=4096):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inner, width), nn.ReLU(), nn.Linear(width, outer))

    def forward(self, x):
        return self.net(x)
"""
AGENT = """
import torch
from nets.mlp import Mlp

class Critic(Mlp):
    pass

class Agent:
    def __init__(self, obs_shape, hidden, net):
        self.net = net.cuda()
        self.critic = Critic(obs_shape[0], 1, hidden)
        self.opt = torch.optim.Adam(self.net.parameters())

    def update(self, batch):
        self.net(batch).mean().backward()
"""
TRAIN = """
import hydra
import torch

class Workspace:
    def __init__(self, cfg):
        self.env = make(cfg.task)
        cfg.agent.obs_shape = self.env.observation_spec().shape
        self.agent = hydra.utils.instantiate(cfg.agent)

@hydra.main(config_path='cfgs', config_name='config')
def main(cfg):
    from train import Workspace as W
    W(cfg)

if __name__ == '__main__':
    main()
"""
CONFIG = """
defaults:
  - net@agent.net: small
width: 32
batch_size: 16
agent:
  _target_: agents.dqn.Agent
  obs_shape: ???
  hidden: ${width}
  net:
    _target_: nets.mlp.Mlp
    inner: 8
    outer: 4
    width: 16
"""


def found(tree: Checkout) -> dict[str, str]:
    return {finding.field: finding.value for finding in reversed(analyze(tree).findings)}


def test_what_hydra_builds_is_found_by_its_target(checkout: Build) -> None:
    known = found(
        checkout(
            {
                "README.md": "```\npython train.py task=walk\n```\n",
                "train.py": TRAIN,
                "cfgs/config.yaml": CONFIG,
                "agents/dqn.py": AGENT,
                "nets/mlp.py": NET,
            }
        )
    )
    assert known["workload"] == "training"
    assert known["media.own_parameters"] == str((8 * 16 + 16 + 16 * 4 + 4) + (376 * 32 + 32 + 32 + 1))


MODELS = """
import torch
from torch import nn
from .registry import MODELS

@MODELS.register_module()
class Detector(nn.Module):
    def __init__(self, backbone, head=None):
        super().__init__()
        self.backbone = MODELS.build(backbone)
        self.head = MODELS.build(head)

    def forward(self, img):
        return self.head(self.backbone(img))

@MODELS.register_module()
class Stem(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Conv2d(3, width, 3, padding=1)

    def forward(self, x):
        return self.net(x)

@MODELS.register_module()
class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.net = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize(
    ("changed", "width"), [("", 8), ("model = dict(backbone=dict(width=16), head=dict(width=16))\n", 16)]
)
def test_what_a_configuration_in_python_names_is_built_with_its_bases(
    checkout: Build, changed: str, width: int
) -> None:
    base = "model = dict(type='Detector', backbone=dict(type='Stem', width=8), head=dict(type='Head', width=8, classes=5))\n"
    train = (
        "import argparse\nimport torch\nfrom mmengine import Config\nfrom det.registry import MODELS\n\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('config')\nargs = parser.parse_args()\n"
        "cfg = Config.fromfile(args.config)\nnet = MODELS.build(cfg.model).cuda()\n"
        "opt = torch.optim.Adam(net.parameters())\nloss.backward()\n"
    )
    known = found(
        checkout(
            {
                "README.md": "```\npython train.py configs/mine.py\n```\n",
                "train.py": train,
                "configs/base.py": base,
                "configs/mine.py": f"_base_ = ['./base.py']\ndata = dict(samples_per_gpu=2)\n{changed}",
                "det/registry.py": "from mmengine import Registry\nMODELS = Registry('models')\n",
                "det/models.py": MODELS,
            }
        )
    )
    assert known["media.own_network"] == "Detector"
    assert known["media.own_parameters"] == str(width * 28 + width * 5 + 5)


def test_a_group_that_a_command_adds_says_more_than_the_defaults(checkout: Build) -> None:
    train = TRAIN.replace("cfg.agent)", "cfg.agent)\n        self.kind = cfg.kind")
    known = found(
        checkout(
            {
                "README.md": "```\npython train.py +experiment=large\n```\n",
                "train.py": train,
                "cfgs/config.yaml": CONFIG,
                "cfgs/experiment/large.yaml": "batch_size: 512\nwidth: 64\n",
                "agents/dqn.py": AGENT,
                "nets/mlp.py": NET,
            }
        )
    )
    assert known["training.batch_size"] == "512"
    assert known["media.own_parameters"] == str((8 * 16 + 16 + 16 * 4 + 4) + (376 * 64 + 64 + 64 + 1))
