"""Where names come from: packages of tables, modules of one name in several packages, and names that stand for two things."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
STEP = "\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"


def found(tree: Checkout) -> dict[str, str]:
    return {finding.field: finding.value for finding in reversed(analyze(tree).findings)}


def mlp(name: str, width: int) -> str:
    return (
        f"from torch import nn\n\nclass {name}(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n"
        f"        self.net = nn.Linear(inner, {width})\n\n    def forward(self, x):\n        return self.net(x)\n"
    )


TRAIN = """
import argparse
import torch
from lib import config

parser = argparse.ArgumentParser()
parser.add_argument('config')
args = parser.parse_args()
cfg = config.load_config(args.config)
net = config.get_model(cfg).cuda()
"""
CONFIG = """
import yaml
from lib import first, second

methods = {'first': first, 'second': second}

def load_config(path):
    cfg = dict()
    with open(path) as f:
        cfg.update(yaml.load(f))
    return cfg

def get_model(cfg):
    return methods[cfg['method']].config.get_model(cfg)
"""
OF_METHOD = """
from lib.encoder import encoders
from lib.METHOD import models

def get_model(cfg):
    return models.Whole(encoders[cfg['model']['encoder']](cfg['model']['inner']), **cfg['model']['more'])
"""
WHOLE = """
from torch import nn

class Whole(nn.Module):
    def __init__(self, encoder, bias=True):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, x):
        return self.head(self.encoder(x))
"""


def test_a_method_of_several_is_built_from_its_own_package(checkout: Build) -> None:
    files = {
        "README.md": "```\npython train.py configs/it.yaml\n```\n",
        "configs/it.yaml": "method: second\nmodel:\n  encoder: wide\n  inner: 8\n  more: {}\n",
        "train.py": TRAIN + STEP,
        "lib/__init__.py": "",
        "lib/config.py": CONFIG,
        "lib/encoder/__init__.py": "from lib.encoder import wide, slim\n\nencoders = {'slim': slim.Encoder, 'wide': wide.Encoder}\n",
        "lib/encoder/slim.py": mlp("Encoder", 4),
        "lib/encoder/wide.py": mlp("Encoder", 64),
    }
    for method, width in (("first", 4), ("second", 64)):
        files[f"lib/{method}/__init__.py"] = f"from lib.{method} import config, models\n"
        files[f"lib/{method}/config.py"] = OF_METHOD.replace("METHOD", method)
        files[f"lib/{method}/models.py"] = WHOLE.replace("WIDTH", str(width))
    assert found(checkout(files))["media.own_parameters"] == str(8 * 64 + 64 + 64 * 3 + 3)


def test_a_network_may_take_the_name_of_its_module(checkout: Build) -> None:
    train = "import torch\nimport models.net as net\n\nnet = net.Net(8)\nnet.cuda()\n" + STEP
    known = found(checkout({"train.py": train, "models/__init__.py": "", "models/net.py": mlp("Net", 16)}))
    assert known["media.own_parameters"] == str(8 * 16 + 16)


def test_a_word_of_the_configuration_has_what_its_part_has(checkout: Build) -> None:
    """``model`` names one of several groups; what is asked of it is a field of that group."""
    train = (
        "import torch\nfrom dataclasses import dataclass\nimport hydra\nfrom net import Net\n\n"
        "@dataclass\nclass Bidirectional:\n    hidden_size: int = 16\n\n"
        "@hydra.main(config_name='config')\ndef main(cfg):\n    net = Net(cfg.model.hidden_size).cuda()\n"
        "    opt = torch.optim.Adam(net.parameters())\n    loss.backward()\n\nif __name__ == '__main__':\n    main()\n"
    )
    tree = checkout(
        {"train.py": train, "net.py": mlp("Net", 8), "config.yaml": "model: bidirectional\nbatch_size: 4\n"}
    )
    assert found(tree)["media.own_parameters"] == str(16 * 8 + 8)


def test_views_of_a_scene_are_no_crops(checkout: Build) -> None:
    train = "import torch\nfrom torchvision.models import resnet18\n\nn_views = 24\nnet = resnet18().cuda()\n" + STEP
    assert "media.views" not in found(checkout({"train.py": train}))
    assert found(checkout({"train.py": train + "loss = info_nce(net)\n"}))["media.views"] == "24"


def test_a_package_hands_on_what_its_modules_hold(checkout: Build) -> None:
    """Another class of the same name stands in the program that asks for it."""
    train = (
        "import torch\nfrom torch import nn\nfrom nets import Net as Inner\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = Inner.make('small')\n\n"
        "    def forward(self, x):\n        return self.net(x)\n\nnet = Net().cuda()\n" + STEP
    )
    held = mlp("Net", 16) + "\n    @classmethod\n    def make(cls, name):\n        return cls(8)\n"
    known = found(checkout({"train.py": train, "nets/__init__.py": "from .net import Net\n", "nets/net.py": held}))
    assert known["media.own_parameters"] == str(8 * 16 + 16)


BLOCKS = """
import collections
import re
import argparse
import torch
from torch import nn

Args = collections.namedtuple('Args', ['kernel', 'inner', 'outer'])

def decode(text):
    options = {}
    for part in text.split('_'):
        splits = re.split(r'(\\d.*)', part)
        if len(splits) >= 2:
            key, value = splits[:2]
            options[key] = value
    return Args(kernel=int(options['k'][0]), inner=int(options['i']), outer=int(options['o']))

class Net(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.parts = nn.ModuleList()
        for block in [decode('r1_k3_i3_o8'), decode('r1_k5_i8_o16')]:
            part = nn.Module()
            part.conv = nn.Conv2d(block.inner, block.outer * factor if block.inner == 3 else block.outer, block.kernel)
            self.parts.append(part)
            factor = 1 if block.inner == 3 else factor
        self.parts[1].conv = nn.Conv2d(self.parts[0].conv.out_channels, decode('k1_i1_o4')._replace(outer=2).outer, 1)

    def forward(self, x):
        for part in self.parts:
            x = part.conv(x)
        return x

parser = argparse.ArgumentParser()
parser.add_argument('-f', '--factor', type=int, default=1)
args = parser.parse_args()
net = Net(args.factor).cuda()
"""


def test_blocks_that_are_written_down_as_words_are_built(checkout: Build) -> None:
    tree = checkout({"README.md": "```\npython train.py -f 4\n```\n", "train.py": BLOCKS + STEP})
    assert found(tree)["media.own_parameters"] == str(32 * 3 * 9 + 32 + 2 * 32 + 2)


def test_a_table_is_handed_on_by_its_package(checkout: Build) -> None:
    train = "import torch\nfrom nets import registry\n\nnet = registry['small']().cuda()\n" + STEP
    held = mlp("Net", 16) + "\ndef small():\n    return Net(8)\n\nregistry = {'small': small}\n"
    known = found(
        checkout({"train.py": train, "nets/__init__.py": "from .build import registry\n", "nets/build.py": held})
    )
    assert known["media.own_parameters"] == str(8 * 16 + 16)


def test_a_class_of_ones_own_is_built_by_a_mixin_that_loads_it(checkout: Build) -> None:
    held = mlp("Base", 16).replace("inner)", "inner=8)", 1)
    held += "\nfrom huggingface_hub import PyTorchModelHubMixin\n\nclass Net(Base, PyTorchModelHubMixin):\n    pass\n"
    train = "import torch\nfrom net import Net\n\nnet = Net.from_pretrained('me/net').cuda()\n" + STEP
    assert found(checkout({"train.py": train, "net.py": held}))["media.own_parameters"] == str(8 * 16 + 16)


def test_a_configuration_in_python_is_named_without_its_ending(checkout: Build) -> None:
    train = (
        "import argparse\nimport importlib\nimport torch\nfrom net import Net\n\nparser = argparse.ArgumentParser()\nparser.add_argument('config')\n"
        "args = parser.parse_args()\ncfg = importlib.import_module('configs.base').config\nnet = Net(cfg.inner).cuda()\n"
    )
    files = {
        "README.md": "```\npython train.py configs/small\n```\n",
        "train.py": train + STEP,
        "net.py": mlp("Net", 16),
        "configs/small.py": "from easydict import EasyDict as edict\n\nconfig = edict()\nconfig.inner = 8\nconfig.batch_size = 64\n",
    }
    known = found(checkout(files))
    assert (known["media.own_parameters"], known["training.batch_size"]) == (str(8 * 16 + 16), "64")


HANDED = """
import torch
from torch import nn
from elsewhere import Zipformer

class Tagger(nn.Module):
    def __init__(self, encoder: nn.Module, classes: int = 10):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(384, classes)

    def forward(self, x):
        return self.head(self.encoder(x))

net = Tagger(HANDED).cuda()
"""


def test_a_network_around_one_that_is_not_seen_does_not_stand_for_it(checkout: Build) -> None:
    unseen = analyze(checkout({"train.py": HANDED.replace("HANDED", "Zipformer(layers=12)") + STEP}))
    known = next(f for f in unseen.findings if f.field == "media.own_network")
    assert known.confidence is Confidence.LOW
    assert unseen.spec.hardware.vram_required_gb == 12
    assert unseen.breakdown is None or all("Tagger" not in term.basis for term in unseen.breakdown.terms)


def test_a_network_around_one_that_is_seen_does(checkout: Build) -> None:
    seen = analyze(checkout({"train.py": HANDED.replace("HANDED", "nn.Linear(384, 384)") + STEP}))
    known = next(f for f in seen.findings if f.field == "media.own_network")
    assert known.confidence is Confidence.HIGH
