from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.networks.measure import OwnNetwork
from gpu_lol_action.analysis.networks.sources import network_sources
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
STEP = "\nnet = net.cuda()\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"

BOTTLENECKS = """
def conv(inner, outer, kernel, stride=1):
    return nn.Conv2d(inner, outer, kernel, stride=stride, padding=kernel // 2, bias=False)

class Bottleneck(nn.Module):
    expansion = 4
    def __init__(self, inner, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1, self.bn1 = conv(inner, planes, 1), nn.BatchNorm2d(planes)
        self.conv2, self.bn2 = conv(planes, planes, 3, stride), nn.BatchNorm2d(planes)
        self.conv3, self.bn3 = conv(planes, planes * self.expansion, 1), nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)

class Net(nn.Module):
    def __init__(self, block, depths, classes=1000):
        super().__init__()
        self.inner = 64
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layers = nn.ModuleList([self._layer(block, 64 * 2**i, depth, 1 if i == 0 else 2) for i, depth in enumerate(depths)])
        self.head = nn.Linear(512 * block.expansion, classes)

    def _layer(self, block, planes, depth, stride):
        down = nn.Sequential(conv(self.inner, planes * block.expansion, 1, stride), nn.BatchNorm2d(planes * block.expansion))
        layers = [block(self.inner, planes, stride, down)]
        self.inner = planes * block.expansion
        layers += [block(self.inner, planes) for _ in range(1, depth)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.pool(self.stem(x))
        for layer in self.layers:
            x = layer(x)
        x = torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1)
        return self.head(x)

MODELS = {"net50": lambda: Net(Bottleneck, [3, 4, 6, 3]), "net101": lambda: Net(Bottleneck, [3, 4, 23, 3])}
"""
VISION = """
from einops import rearrange

class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)

class Block(nn.Module):
    def __init__(self, dim, heads, ratio=4.0, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm1, self.attn = norm_layer(dim), Attention(dim, heads)
        self.norm2 = norm_layer(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, int(dim * ratio)), nn.GELU(), nn.Linear(int(dim * ratio), dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))

class ViT(nn.Module):
    def __init__(self, size=224, patch=16, dim=768, depth=12, heads=12, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, dim))
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.position
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])

def vit_base(**kwargs):
    return ViT(dim=768, depth=12, heads=12, **kwargs)

def vit_large(**kwargs):
    return ViT(dim=1024, depth=24, heads=16, **kwargs)
"""
UNET = """
class Double(nn.Sequential):
    def __init__(self, inner, outer):
        super().__init__(nn.Conv2d(inner, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True),
                         nn.Conv2d(outer, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True))

class UNet(nn.Module):
    def __init__(self, channels=3, classes=2, width=64):
        super().__init__()
        sides = [width * 2**i for i in range(5)]
        self.start = Double(channels, width)
        self.down = nn.ModuleList([Double(a, b) for a, b in zip(sides, sides[1:])])
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, kernel_size=2, stride=2) for a, b in zip(sides, sides[1:])])
        self.join = nn.ModuleList([Double(2 * a, a) for a in sides[:-1]])
        self.end = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = [self.start(x)]
        for layer in self.down:
            kept.append(layer(F.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for i in reversed(range(4)):
            x = self.join[i](torch.cat([kept[i], self.up[i](x)], dim=1))
        return self.end(x)
"""


def network(checkout: Build, files: Mapping[str, str], size: int = 224, **options: str) -> OwnNetwork:
    tree = checkout(files)
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), InputSizes(size), options)
    assert found is not None
    assert found.unknown == 0
    return found


def test_kept_numbers_are_those_that_were_counted_of_a_resnet(checkout: Build) -> None:
    found = network(checkout, {"train.py": HEAD + BOTTLENECKS + "net = Net(Bottleneck, [3, 4, 6, 3])" + STEP})
    assert found.parameters == pytest.approx(25_557_032, rel=0.003)  # downsampled also where the stride is 1: 65 K more
    assert found.outputs * 4e-6 == pytest.approx(86.0, rel=0.12)  # MB at 32 bit: counted for torchvision's resnet50


def test_kept_numbers_are_those_that_were_counted_of_a_vision_transformer(checkout: Build) -> None:
    found = network(checkout, {"train.py": HEAD + VISION + "net = vit_base()" + STEP})
    assert found.parameters == 86_567_656
    assert found.outputs * 4e-6 == pytest.approx(
        125.4 + 2 * 12 * 12 * 197**2 * 4e-6 / 2, rel=0.1
    )  # and scores that are held


def test_a_picture_that_nothing_sizes_is_larger_where_a_picture_comes_out(checkout: Build) -> None:
    files = {"train.py": HEAD + UNET + "net = UNet()" + STEP}
    open_size, small = network(checkout, files, 0), network(checkout, files, 256)
    assert open_size.parameters == pytest.approx(31_037_698, rel=1e-3)
    assert open_size.outputs * 4e-6 == pytest.approx(1372.6, rel=0.15)  # counted for a U-Net of 64 at 512 pixels
    assert open_size.outputs == 4 * small.outputs


@pytest.mark.parametrize(
    "line",
    [
        "net = networks.__dict__[args.model]()",
        "net = getattr(networks, args.model)()",
        "net = eval(args.model)()",
        "net = {'vit_base': vit_base, 'vit_large': vit_large}[args.model]()",
    ],
)
def test_the_option_chooses_the_network(checkout: Build, line: str) -> None:
    start = "import argparse, torch\nimport networks\nfrom networks import vit_base, vit_large\np = argparse.ArgumentParser()\n"
    start += "p.add_argument('--model', default='vit_large')\nargs = p.parse_args()\n"
    files = {"networks.py": HEAD + VISION, "train.py": start + line + STEP}
    assert network(checkout, files).parameters == 304_326_632
    assert network(checkout, files, model="vit_base").parameters == 86_567_656


def test_a_table_of_networks_and_a_class_of_settings_are_followed(checkout: Build) -> None:
    config = "class Config:\n    def __init__(self):\n        self.name = ['net50', 'net101'][1]\n"
    files = {"networks.py": HEAD + BOTTLENECKS, "config.py": config}
    files["train.py"] = "import torch\nfrom networks import MODELS\nfrom config import Config\nconfig = Config()\n"
    files["train.py"] += "def build_model(name):\n    return MODELS[name]()\n\nnet = build_model(config.name)" + STEP
    assert network(checkout, files).parameters == pytest.approx(44_549_160, rel=0.003)


def test_a_backbone_of_a_library_counts_with_its_head(checkout: Build) -> None:
    program = (
        HEAD
        + "import torchvision\nclass Detector(nn.Module):\n    def __init__(self, name='resnet101', width=256, classes=91):\n"
    )
    program += (
        "        super().__init__()\n        self.backbone = getattr(torchvision.models, name)(pretrained=True)\n"
    )
    program += (
        "        self.project = nn.Conv2d(2048, width, 1)\n        self.head = nn.Transformer(width, 8, 6, 6, 2048)\n"
    )
    program += "        self.classes = nn.Linear(width, classes)\n    def forward(self, x):\n"
    program += "        x = self.project(self.backbone(x)).flatten(2).permute(2, 0, 1)\n        return self.classes(self.head(x, x))\n"
    found = network(checkout, {"train.py": program + "net = Detector()" + STEP}, 800)
    assert 60e6 < found.parameters < 66e6
    assert found.outputs * 4e-6 > 127.1 * (800 / 224) ** 2


def test_a_copy_is_another_layer(checkout: Build) -> None:
    program = (
        HEAD + "import copy\nclass Stack(nn.Module):\n    def __init__(self, layer, n):\n        super().__init__()\n"
    )
    program += "        self.layers = nn.ModuleList([copy.deepcopy(layer) for i in range(n)])\n"
    program += (
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
    )
    program += "net = Stack(nn.TransformerEncoderLayer(256, 8, 1024), 6)"
    assert network(checkout, {"train.py": program + STEP}).parameters == pytest.approx(6 * 789_760, rel=0.001)


def test_a_checkpointed_part_keeps_only_what_goes_in_and_out(checkout: Build) -> None:
    block = (
        HEAD
        + "from torch.utils.checkpoint import checkpoint\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    )
    block += "        self.layers = nn.ModuleList([nn.Sequential(nn.Conv2d(8 if i else 3, 32, 3, padding=1), nn.GELU(), nn.Conv2d(32, 8, 3, padding=1)) for i in range(4)])\n"
    block += (
        "    def forward(self, x):\n        for layer in self.layers:\n            x = CALL\n        return x\nnet = Net()"
        + STEP
    )
    plain = network(checkout, {"train.py": block.replace("CALL", "layer(x)")}, 64)
    saving = network(checkout, {"train.py": block.replace("CALL", "checkpoint(layer, x)")}, 64)
    assert saving.parameters == plain.parameters
    assert saving.outputs * 8 < plain.outputs


@pytest.mark.parametrize(
    "line",
    [
        "net = nn.Linear(9, 9)\nwhile True:\n    net = nn.Sequential(net, nn.Linear(9, 9))",
        "f = lambda g: g(g)\nf(f)\nnet = nn.Sequential(nn.Linear(9, 9))",
        "x = '%999999999d' % 1\ny = 'a' * 10**12\nz = [0] * 10**12\nnet = nn.Sequential(nn.Linear(9, 9))",
        "n = 10\nfor i in range(99):\n    n = n ** 9\nnet = nn.Sequential(nn.Linear(n, n))",
        "net = nn.Sequential(nn.Linear(9, 9))\nnet[10**9]\nnet.append(net)\nnet.x = net",
        "def f(*a, **b):\n    return f(*a, a, **b)\nf(1)\nnet = nn.Sequential(nn.Linear(9, 9))",
        "net = nn.Sequential(nn.Conv2d(3, 9, 10**9, stride=0, padding=-5))(torch.zeros(0, -1))",
        "a = [0] * 500\nfor i in range(40):\n    a = [a] * 500\n    b = [list(a)]\n    a == b\nnet = nn.Sequential(nn.Linear(9, 9))\nnet.a = a",
        "class N(nn.Module):\n    def forward(self, x):\n        a = []\n        a.append(a)\n        return a\nfor i in range(400):\n    net = N()",
        "x = 9.9e99\nfor i in range(99):\n    x = x * x\nnet = nn.Sequential(nn.Conv2d(3, 10**8, 3), nn.Upsample(scale_factor=10**6), nn.Linear(10**8, 10**8))",
        "net = eval('net()')\nclass A(A, B): pass\nA(A)()[A]",
    ],
)
def test_no_program_stops_the_reader(checkout: Build, line: str) -> None:
    ast.parse(line)
    tree = checkout({"train.py": HEAD + line + STEP})
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), InputSizes(224))
    assert found is None or found.parameters >= 0


def test_a_sample_that_no_card_holds_is_not_believed(checkout: Build) -> None:
    program = (
        HEAD + "net = nn.Sequential(nn.Conv2d(3, 4096, 3), nn.Upsample(scale_factor=16), nn.Conv2d(4096, 8, 3))" + STEP
    )
    tree = checkout({"train.py": program})
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), InputSizes(512))
    assert found is not None
    assert found.unknown >= found.layers


OF_WEIGHTS = """
class Net(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.rows = nn.Sequential(nn.Linear(64, 64), *[nn.Linear(width, width) for _ in range(layers)])

    def forward(self, x):
        return self.rows(x)

def build_model({given}):
    return Net({width}, 4)

net = build_model({said})
"""


@pytest.mark.parametrize(
    ("given", "width", "said", "is_known"),
    [
        ("state_dict", "state_dict['rows.1.weight'].shape[0]", "torch.load('net.pt')", False),
        ("checkpoint", "checkpoint['width']", "torch.load('net.pt')", False),
        ("width", "width", "64", True),
        ("state_dict, width=64", "width", "torch.load('net.pt')", True),
    ],
)
def test_how_large_a_network_is_that_is_read_off_its_weights_only_they_tell(
    checkout: Build, given: str, width: str, said: str, is_known: bool
) -> None:
    program = HEAD + OF_WEIGHTS.format(given=given, width=width, said=said) + STEP
    tree = checkout({"train.py": program, "README.md": "```\npython train.py\n```\n"})
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    assert (own_network(network_sources(tree, run.script), InputSizes(224)) is not None) is is_known


def test_a_network_whose_layers_hold_next_to_nothing_was_not_read(checkout):
    code = "import torch\nimport torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = nn.Sequential(*[nn.Linear({0}, {0}) for _ in range(30)])\n    def forward(self, x):\n        return self.layers(x)\nnet = Net().cuda()\ntorch.optim.Adam(net.parameters())\nloss.backward()\n"
    for width, sure in ((2, Confidence.LOW), (64, Confidence.HIGH)):
        tree = checkout({"train.py": code.format(width)})
        found = [f for f in media.detect(tree, primary_run(tree)) if f.field == "media.own_parameters"]
        assert [f.confidence for f in found] == [sure]
