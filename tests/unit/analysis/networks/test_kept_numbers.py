"""What a network keeps per sample, where PyTorch's own count of it is known: 4 bytes a number, masks a quarter of one."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes
from tests.unit.analysis.conftest import Build

HEAD = "import torch\nfrom torch import nn\nfrom einops import rearrange, repeat, pack, unpack\n"
NET = (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.first = nn.Conv2d(3, 64, 16, stride=16)\n{built}\n"
    "    def forward(self, x):\n        x = self.first(x)\n{run}\n        return x\n"
)
TRAIN = "net = Net().cuda()\nopt = torch.optim.Adam(net.parameters())\nnet(data).mean().backward()\nopt.step()\n"
FIRST = 64 * 14 * 14  # what the convolution puts out


def kept(checkout: Build, built: str, run: str) -> float:
    indented = ["\n".join(f"        {line}" for line in part.split("\n")) for part in (built, run)]
    tree = checkout({"train.py": HEAD + NET.format(built=indented[0], run=indented[1]) + TRAIN})
    network = own_network(tree.sources, InputSizes(side=224))
    assert network is not None
    assert not network.unknown
    return network.outputs / FIRST


@pytest.mark.parametrize(
    ("built", "run", "times"),
    [
        ("self.act = nn.ReLU()", "x = self.act(x)", 1),
        (
            "self.act = nn.ReLU()\nself.drop = nn.Dropout(0.1)",
            "x = self.drop(self.act(x))",
            2.25,
        ),  # both results, a mask
        ("self.drop = nn.Dropout(0.1)", "x = self.drop(x)", 1.25),
        ("self.drop = nn.Dropout(0.0)", "x = self.drop(x)", 1),
        ("", "x = torch.nn.functional.dropout(torch.relu(x), 0.1)", 2.25),
        ("", "x = torch.nn.functional.dropout(torch.relu(x), p=0.0)", 1),
        ("self.soft = nn.Softmax(-1)\nself.drop = nn.Dropout(0.1)", "x = self.drop(self.soft(x))", 2.25),
        ("", "m = x.mean(1, keepdim=True)\nx = (x - m) / torch.sqrt(x.var(1, keepdim=True) + 1e-6)", 3),
        ("", "x = x - x.mean(1, keepdim=True)", 1),
    ],
)
def test_what_keeps_its_own_result_is_told_from_what_keeps_its_input(
    checkout: Build, built: str, run: str, times: float
) -> None:
    assert kept(checkout, built, run) == pytest.approx(times, rel=0.01)


TOKENS = 196 + 1


@pytest.mark.parametrize(
    "joined",
    [
        "cls = repeat(self.cls, '() n d -> b n d', b=x.shape[0])\nx = torch.cat((cls, x), dim=1)",
        "cls = repeat(self.cls, '1 1 d -> b d', b=x.shape[0])\nx, ps = pack([cls, x], 'b * d')",
        "x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1)",
    ],
)
def test_a_token_that_is_repeated_for_each_sample_loses_no_positions(checkout: Build, joined: str) -> None:
    built = "self.cls = nn.Parameter(torch.randn(1, 1, 64))\nself.qk = nn.Linear(64, 128)"
    run = (
        f"x = rearrange(x, 'b c h w -> b (h w) c')\n{joined}\n"
        "q, k = self.qk(x).chunk(2, dim=-1)\nx = torch.einsum('b i d, b j d -> b i j', q, k)"
    )
    wanted = 1 + (TOKENS * 64 + TOKENS * 128 + TOKENS**2) / FIRST
    assert kept(checkout, built, run) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize(
    "layers",
    [
        "[layer for layer, drop in zip(self.layers, torch.rand(len(self.layers)) < 0.1) if not drop]",
        "[layer for layer, drop in zip(self.layers, draw()) if not drop]",
        "self.layers",
    ],
)
def test_layers_that_are_left_out_by_chance_are_all_followed(checkout: Build, layers: str) -> None:
    built = "self.layers = nn.ModuleList([nn.Conv2d(64, 64, 1) for _ in range(12)])"
    assert kept(checkout, built, f"for layer in {layers}:\n    x = layer(x)") == pytest.approx(13, rel=0.01)


def test_patches_of_clips_and_windows_are_given_what_they_want(checkout: Build) -> None:
    net = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.embed = nn.Sequential({first}, nn.Linear({width}, 64))\n"
        "    def forward(self, x):\n        return self.embed(x)\n"
    )
    clip = "Rearrange('b c (f pf) (h p1) (w p2) -> b (f h w) (p1 p2 pf c)', p1=16, p2=16, pf=2)"
    windows = "nn.Unfold(14, stride=7), Rearrange('b c n -> b n c')"
    for first, width, numbers in ((clip, 1536, 4 * 196 * 64), (windows, 588, 31 * 31 * (588 + 64))):
        head = f"{HEAD}from einops.layers.torch import Rearrange\n"
        tree = checkout({"train.py": head + net.format(first=first, width=width) + TRAIN})
        network = own_network(tree.sources, InputSizes(side=224))
        assert network is not None
        assert network.outputs == pytest.approx(numbers, rel=0.01)


def test_a_part_that_is_named_as_it_is_built_is_found_by_that_name(checkout: Build) -> None:
    built = "for i in range(3):\n    self.__setattr__('level_%d' % i, nn.Conv2d(64, 64, 1))"
    assert kept(checkout, built, "for i in range(3):\n    x = self.__getattr__('level_%d' % i)(x)") == pytest.approx(
        4, rel=0.01
    )


@pytest.mark.parametrize(
    "run",
    [
        "far = -torch.diag(torch.tensor(float('inf')).repeat(14), 0).unsqueeze(0).repeat(14, 1, 1)\nx = x + far",  # CCNet
        "x = torch.cat([x, torch.zeros(1, 64, 14, 10 ** 300)], 1)",
        "x = x * float('nan')",
        "x = x.repeat(1, 10 ** 16, 10 ** 16, 10 ** 16).repeat(1, 10 ** 16, 10 ** 16, 10 ** 16)",
        "x = torch.full((float('inf'),), 0) + x",
        "x = nn.Linear(float('inf'), 64)(x)",
        "x = x.view(-1, float('inf'))",
    ],
)
def test_endless_numbers_stop_nothing(checkout: Build, run: str) -> None:
    built = "self.other = nn.Linear(float('inf'), 1e308)\nself.more = nn.Conv2d(64, int(1e300), 3)"
    body = NET.format(
        built="\n".join(f"        {line}" for line in built.split("\n")),
        run="\n".join(f"        {line}" for line in run.split("\n")),
    )
    tree = checkout({"train.py": HEAD + body + TRAIN, "requirements.txt": "torch\n"})
    assert analyze(tree).spec.needs_gpu
