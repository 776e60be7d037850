"""Ways in which programs come to their network: each builds the same one, of known weights, out of another module, name or file."""

from __future__ import annotations

import textwrap

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from tests.unit.analysis.conftest import Build

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=256, depth=4, classes=10):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(*[nn.Conv2d(width, width, 3, padding=1) for _ in range(depth)])
        self.last = nn.Linear(width, classes)

    def forward(self, x):
        return self.last(self.body(self.first(x)).mean((2, 3)))
"""
LOOP = """
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
for x, y in loader:
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
OPTIONS = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="{arch}")
parser.add_argument("--width", type=int, default=384)
parser.add_argument("--config", default="config.yaml")
args = parser.parse_args()
"""
READ = "import yaml\nwith open(args.config) as f:\n    cfg = yaml.safe_load(f)\n"
LOOKUP = """import importlib


def find_model_using_name(name):
    module = importlib.import_module("models." + name + "_model")
    model = None
    for key, cls in module.__dict__.items():
        if key.lower() == name.replace("_", "") + "model":
            model = cls
    return model


def create_model(opt):
    return find_model_using_name(opt.arch)(opt.width)
"""
BY_NAME = """import importlib


def construct_class_by_name(*args, class_name=None, **kwargs):
    module, name = class_name.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(*args, **kwargs)
"""
REGISTRY = """class Registry:
    def __init__(self):
        self._held = {}

    def register_module(self, name=None):
        def wrap(cls):
            self._held[name or cls.__name__] = cls
            return cls
        return wrap

    def build(self, cfg):
        cfg = dict(cfg)
        return self._held[cfg.pop("type")](**cfg)


MODELS = Registry()
"""
IN_CONFIG = "from ml_collections import ConfigDict\n\n\ndef get_config():\n    config = ConfigDict()\n    config.model = ConfigDict()\n    config.model.width = 384\n    config.model.depth = 6\n    return config\n"
DEEP = "width: 384\n  depth: 6\n"


def weights(width: int = 384, depth: int = 4, classes: int = 10) -> int:
    return 28 * width + depth * (9 * width**2 + width) + (width + 1) * classes


def with_options(arch: str, built: str) -> str:
    return f"{OPTIONS.format(arch=arch)}{built}"


WAYS = {
    "a class": ({"models.py": NET}, "from models import Net\nmodel = Net(384)", weights()),
    "a table of classes": ({"models.py": NET}, with_options("net", 'from models import Net\nmodel = {"net": Net}[args.arch](args.width)'), weights()),
    "a module's names": (
        {"models.py": f"{NET}\n\ndef big(**kwargs):\n    return Net(width=384, **kwargs)\n"},
        with_options("big", "import models\nmodel = models.__dict__[args.arch](classes=100)"), weights(classes=100)),
    "another name of a module": (
        {"models.py": f"{NET}\n\ndef big_a(**kwargs):\n    return Net(width=384, **kwargs)\n\n\nbig = big_a\n"},
        with_options("big", "import models\nmodel = models.__dict__[args.arch](classes=100)"), weights(classes=100)),
    "an attribute of a module": ({"models.py": f"{NET}\n\nBig = Net\n"}, with_options("Big", "import models\nmodel = getattr(models, args.arch)(args.width)"), weights()),
    "a module by an option": ({"models/net.py": NET, "models/__init__.py": ""}, with_options("net", 'import importlib\nmodel = importlib.import_module(f"models.{args.arch}").Net(args.width)'), weights()),
    "a module by a text": ({"models/net.py": NET, "models/__init__.py": ""}, with_options("Net", 'import importlib\nmodel = getattr(importlib.import_module("models.net"), args.arch)(width=args.width)'), weights()),
    "a module by its ending": ({"models/__init__.py": LOOKUP, "models/net_model.py": NET.replace("class Net(", "class NetModel(")}, with_options("net", "from models import create_model\nmodel = create_model(args)"), weights()),
    "a class by its dotted name": ({"util.py": BY_NAME, "models.py": NET}, 'import util\nkwargs = dict(class_name="models.Net", width=384)\nkwargs["depth"] = 6\nmodel = util.construct_class_by_name(**kwargs)', weights(depth=6)),
    "a file": ({"nets/net.py": NET}, 'import importlib.util\nspec = importlib.util.spec_from_file_location("net", "nets/net.py")\nmodule = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(module)\nmodel = module.Net(384)', weights()),
    "the program's own names": ({}, f"{NET}\n{with_options('Net', 'model = globals()[args.arch](args.width)')}", weights()),
    "a text that is evaluated": ({"models.py": NET}, with_options("Net", "from models import *\nmodel = eval(args.arch)(args.width)"), weights()),
    "a call that is evaluated": ({"models.py": NET}, 'from models import Net\nmodel = eval("Net(width=384)")', weights()),
    "a case": ({"models.py": NET}, with_options("big", 'from models import Net\nmatch args.arch:\n    case "small" | "tiny":\n        model = Net(64)\n    case "big":\n        model = Net(384)\n    case _:\n        model = Net(32)'), weights()),
    "a case with a name, behind one for nothing": (
        {"models.py": NET},
        with_options("big", 'from models import Net\nmatch args.arch:\n    case None | True:\n        model = Net(16)\n    case "small" as name:\n        model = Net(64)\n    case ("big" | "large") as name:\n        model = Net(384)'), weights(),
    ),
    "the case for all others": ({"models.py": NET}, with_options("big", 'from models import Net\nmatch args.arch:\n    case "small":\n        model = Net(64)\n    case other:\n        model = Net(384)'), weights()),
    "a file's words": ({"models.py": NET, "config.yaml": f"model:\n  {DEEP}"}, with_options("net", f'{READ}from models import Net\nmodel = Net(cfg["model"]["width"], cfg["model"]["depth"])'), weights(depth=6)),
    "a part of a file": ({"models.py": NET, "config.yaml": f"model:\n  {DEEP}"}, with_options("net", f'{READ}from models import Net\nmodel = Net(**cfg["model"])'), weights(depth=6)),
    "a part of a file by its method": ({"models.py": NET, "config.yaml": f"model:\n  {DEEP}"}, with_options("net", f'{READ}from models import Net\nmodel = Net(**cfg.get("model", {{}}))'), weights(depth=6)),
    "a file's class and its part": (
        {"models.py": NET, "config.yaml": f"net_type: Net\nnet_params:\n  {DEEP}"},
        with_options("net", f'{READ}import models\nkind = getattr(models, cfg.get("net_type", "Other"))\nmodel = kind(**cfg["net_params"])'), weights(depth=6)),
    "what a file may not say": ({"models.py": NET, "config.yaml": f"net_params:\n  {DEEP}"}, with_options("net", f'{READ}import models\nmodel = getattr(models, cfg.get("net_type", "Net"))(**cfg["net_params"])'), weights(depth=6)),
    "a registry": (
        {"registry.py": REGISTRY, "models.py": NET.replace("class Net", "from registry import MODELS\n\n\n@MODELS.register_module()\nclass Net"), "config.yaml": "model:\n  type: Net\n  width: 384\n"},
        with_options("net", f'{READ}import models\nfrom registry import MODELS\nmodel = MODELS.build(cfg["model"])'), weights()),
    "a configuration that a program makes": ({"models.py": NET, "configs/default.py": IN_CONFIG}, "from configs.default import get_config\nfrom models import Net\nconfig = get_config()\nmodel = Net(config.model.width, config.model.depth)", weights(depth=6)),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_network_is_found_however_it_is_built(checkout: Build, way: str) -> None:
    files, built, expected = WAYS[way]
    tree = checkout(
        {**files, "train.py": f"import torch\n{built}\nmodel = model.cuda()\n{LOOP}", "requirements.txt": "torch\n"}
    )
    found = {finding.field: finding.value for finding in reversed(detect_all(tree))}
    assert found.get("media.own_parameters") == str(expected)


def test_a_mean_of_the_weights_is_not_what_is_trained(checkout: Build) -> None:
    mean = "class ModelEma(nn.Module):\n    def __init__(self, model):\n        super().__init__()\n        self.module = copy.deepcopy(model)\n"
    program = f"import copy\n{NET}\n\n{mean}\n\nmodel = Net(384).cuda()\nema = ModelEma(model)\n{LOOP}"
    found = {finding.field: finding.value for finding in reversed(detect_all(checkout({"train.py": program})))}
    assert found["media.own_network"] == "Net"
    assert found["media.own_parameters"] == str(weights())


@pytest.mark.parametrize(
    "text", ["(" * 190 + ")" * 190 + "()", "Net(" * 90, "f'{x!r:{'y'}}'()", "eval(text)", "\\x00()"]
)
def test_a_text_that_cannot_be_evaluated_stops_nothing(checkout: Build, text: str) -> None:
    program = f"{NET}\ntext = {text!r}\nother = eval(text)\nmodel = Net(384).cuda()\n{textwrap.dedent(LOOP)}"
    found = {finding.field: finding.value for finding in reversed(detect_all(checkout({"train.py": program})))}
    assert found["media.own_parameters"] == str(weights())


FLATTENED = """
def flat(*parts):
    rows = []
    for part in parts:
        if isinstance(part, nn.Sequential):
            rows.extend(part.children())
        elif isinstance(part, nn.Module):
            rows.append(part)
    return nn.Sequential(*rows)


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(64, 64, 1)

    def forward(self, x):
        left, right = torch.split(self.one(x), (32, 32), dim=1)
        return torch.cat((left, right), dim=1)


model = flat(nn.Conv2d(3, 64, 1), nn.Sequential(Half(), Half())).cuda()
"""


def test_a_part_is_taken_for_a_row_of_layers_only_if_it_is_one(checkout: Build) -> None:
    program = f"import torch\nfrom torch import nn\n{FLATTENED}{LOOP}"
    tree = checkout({"train.py": program.replace("loader", "[(torch.randn(8, 3, 32, 32), None)]")})
    found = {finding.field: int(finding.value) for finding in detect_all(tree) if finding.field == "media.own_outputs"}
    assert found["media.own_outputs"] == 5 * 64 * 512**2  # each of three convolutions, and what is joined twice


TIED = """
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50257, 768)
        self.inner = nn.Linear(768, 768)
        self.head = nn.Linear(768, 50257, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x):
        return self.head(self.inner(self.table(x)))


model = Language().cuda()
"""


@pytest.mark.parametrize(
    ("line", "times"),
    [("self.head.weight = self.table.weight", 1), ("self.table.weight = self.head.weight", 1), ("pass", 2)],
)
def test_weights_that_two_layers_share_count_once(checkout: Build, line: str, times: int) -> None:
    program = f"import torch\nfrom torch import nn\n{TIED.replace('self.head.weight = self.table.weight', line)}{LOOP}"
    found = {finding.field: finding.value for finding in reversed(detect_all(checkout({"train.py": program})))}
    assert int(found["media.own_parameters"]) == times * 50257 * 768 + 769 * 768
