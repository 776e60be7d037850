"""What goes into a network of one's own and comes out of it, layer by layer, on small repositories of our own writing."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.media.media import detect
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.networks.sources import network_sources
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.support.networks import HEAD, STEP, Build, network


def class_of(layers: str, forward: str = "return self.net(x)") -> str:
    body = "\n        ".join(layers.split("\n"))
    lines = "\n        ".join(forward.split("\n"))
    return f"\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {body}\n\n    def forward(self, x):\n        {lines}\n\nnet = Net()\n"


def test_weights_of_ones_own_count_in_functions_of_convolutions(checkout: Build) -> None:
    code = class_of(
        "self.size = int(math.log(256, 2))\nself.weight = nn.Parameter(torch.randn(self.size, 3, 3, 3).div_(2))",
        "x = F.conv2d(input=x, weight=self.weight * 0.5, stride=2, padding=1)\n"
        "return F.conv_transpose2d(x, self.weight, stride=2)",
    )
    found = network(checkout, code)
    assert found.parameters == 8 * 3 * 9
    down = 8 * 32 * 32
    up = 3 * 65 * 65  # (32 - 1) x 2 + 3
    assert found.outputs == down + up


def test_each_side_has_its_own_stride(checkout: Build) -> None:
    found = network(checkout, class_of("self.net = nn.Conv2d(3, 8, (5, 1), (3, 1), padding=(2, 0))"))
    assert found.outputs == 8 * 22 * 64


def test_an_activation_that_needs_what_goes_in_is_kept_beside_it(checkout: Build) -> None:
    leaky = network(checkout, class_of("self.net = nn.Sequential(nn.Conv2d(3, 8, 1), nn.LeakyReLU(0.2))"))
    in_place = network(
        checkout, class_of("self.net = nn.Sequential(nn.Conv2d(3, 8, 1), nn.LeakyReLU(0.2, inplace=True))")
    )
    assert leaky.outputs == 2 * in_place.outputs == 2 * 8 * 64 * 64


def test_a_gate_halves_the_channels_and_layers_are_put_in_front(checkout: Build) -> None:
    layers = "self.net = nn.ModuleList()\nfor _ in range(2):\n    self.net.insert(0, nn.Sequential(nn.Conv1d(1, 4, 1), nn.GLU(1), nn.Conv1d(2, 1, 1)))"
    found = network(
        checkout, class_of(layers, "for layer in self.net:\n    x = layer(x)\nreturn x"), InputSizes(samples=1000)
    )
    assert found.outputs == 2 * (4 + 2 + 1) * 1000
    assert not found.is_sequence


@pytest.mark.parametrize(
    ("inner", "sizes", "positions"),
    [(1, InputSizes(samples=8192, hop=256), 8192), (80, InputSizes(samples=8192, hop=256), 32), (3, InputSizes(points=1024), 1024)],
)  # fmt: skip
def test_sounds_their_windows_and_points_are_as_long_as_the_run_says(
    checkout: Build, inner: int, sizes: InputSizes, positions: int
) -> None:
    assert network(checkout, class_of(f"self.net = nn.Conv1d({inner}, 5, 1)"), sizes).outputs == 5 * positions


def test_an_input_has_as_many_sides_as_forward_takes_apart(checkout: Build) -> None:
    """A network of two-dimensional layers over a sound that is folded by its period."""
    forward = "b, c, t = x.shape\nx = F.pad(x, (0, 2))\nreturn self.net(x.view(b, c, (t + 2) // 2, 2))"
    found = network(checkout, class_of("self.net = nn.Conv2d(1, 4, 1)", forward), InputSizes(samples=998))
    assert found.outputs == 4 * 1000


def test_two_inputs_of_one_kind_are_equally_large(checkout: Build) -> None:
    code = class_of("self.net = nn.Conv2d(3, 4, 1)", "return self.net(x)").replace(
        "forward(self, x)", "forward(self, x, x_hat)"
    )
    twice = code.replace("return self.net(x)", "return self.net(x), self.net(x_hat)")
    assert network(checkout, twice).outputs == 2 * network(checkout, code).outputs


def test_arithmetic_spreads_sides_of_one(checkout: Build) -> None:
    layers = "k = torch.ones(4)\nself.blur = k[None, :] * k[:, None]\nself.net = nn.Conv2d(3, 4, 1)"
    found = network(checkout, class_of(layers, "return F.conv2d(self.net(x), self.blur.view(1, 1, 4, 4), padding=1)"))
    assert found.outputs == 4 * 64 * 64 + 63 * 63


def test_one_layout_taken_for_another_is_no_outer_product(checkout: Build) -> None:
    """Positions first and samples first hold as many numbers: their sum does not hold the square of them."""
    forward = "a = torch.zeros(1200, 1, 16)\nreturn torch.exp(a + a.transpose(0, 1)) + self.net(x).sum()"
    found = network(checkout, class_of("self.net = nn.Conv2d(3, 4, 1)", forward))
    assert found.outputs == 1200 * 16 + 4 * 64 * 64


def test_a_clip_goes_through_layers_of_pictures(checkout: Build) -> None:
    forward = "b, c, t, h, w = x.shape\nreturn self.net(x.view(b * t, c, h, w))"
    code = class_of("self.net = nn.Conv2d(3, 4, 1)", forward)
    assert network(checkout, code, InputSizes(64, frames=6)).outputs == 6 * 4 * 64 * 64
    assert network(checkout, code, InputSizes(64)).outputs == 8 * 4 * 64 * 64


def test_several_indices_pick_together_and_tables_are_cut_to_the_length(checkout: Build) -> None:
    layers = "self.net = nn.Linear(16, 16)\nself.table = nn.Parameter(torch.zeros(1, 9000, 16))"
    forward = (
        "x = self.net(self.table[:, : x.size(1)])\n"
        "pick = torch.randint(50, (20, 5))\n"
        "x = torch.zeros(2, 50, 16)[:, torch.arange(20).unsqueeze(1), pick]\n"
        "return torch.exp(x[..., 1:])"
    )
    found = network(checkout, class_of(layers, forward))
    assert found.outputs == 256 * 16 + 2 * 20 * (5 - 1)


def test_a_long_table_of_numbers_does_not_end_the_reading(checkout: Build) -> None:
    layers = "rows = [[math.sin(i / 9 ** j) for j in range(500)] for i in range(500)]\nself.net = nn.Conv2d(3, 4, 1)"
    assert network(checkout, class_of(layers)).outputs == 4 * 64 * 64


def test_a_module_and_a_function_of_one_name_are_told_apart(checkout: Build) -> None:
    tree = checkout(
        {
            "train.py": HEAD
            + "from ops import blur\n"
            + class_of("self.net = nn.Conv2d(3, 4, 1)", "return blur.down(self.net(x))")
            + STEP,
            "ops/__init__.py": "",
            "ops/blur.py": HEAD
            + "def blur(x):\n    return x\n\ndef down(x):\n    return F.conv2d(x, torch.zeros(2, 4, 1, 1))\n",
        }
    )
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), InputSizes(64))
    assert found is not None
    assert found.outputs == (4 + 2) * 64 * 64


def test_lists_of_a_configuration_build_the_network(checkout: Build) -> None:
    """As vocoders do: the rates, and the kernels in each level, stand in a JSON or YAML file."""
    program = (
        "import argparse, json\n"
        + HEAD
        + "class Net(nn.Module):\n    def __init__(self, h):\n        super().__init__()\n        self.net = nn.ModuleList()\n"
        "        for rate, kernels in zip(h.rates, h.kernels):\n            for kernel in kernels:\n"
        "                self.net.append(nn.Conv1d(1, rate, kernel) if h.kind == '1' else nn.Conv1d(1, 999, 1))\n"
        "    def forward(self, x):\n        return [layer(x) for layer in self.net]\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--config', default='a.json')\nargs = parser.parse_args()\n"
        "h = json.load(open(args.config))\nnet = Net(h)\n"
    )
    settings = '"kind": "1", "rates": [2, 4], "kernels": [[1, 3], [5]], "segment_size": 8192, "sampling_rate": 22050'
    for name, text in (("a.json", "{" + settings + "}"), ("a.yaml", settings.replace(', "', '\n"').replace('"', ""))):
        tree = checkout(
            {"train.py": program.replace("a.json", name) + STEP, name: text.replace("kind: 1", "kind: '1'"), "README.md": f"```\npython train.py --config {name}\n```\n"}
        )  # fmt: skip
        run = primary_run(tree)
        parameters = next(f.value for f in detect(tree, run) if f.field == "media.own_parameters")
        assert int(parameters) == (2 + 2) + (2 * 3 + 2) + (4 * 5 + 4)


def test_a_network_that_the_checkout_registers_is_no_librarys(checkout: Build) -> None:
    """A clip of 16 pictures goes into what is called as a network for one picture is."""
    tree = checkout(
        {
            "train.py": "import torch\nfrom timm.models import create_model\nimport models\n"
            "def main():\n    net = create_model('vit_base_patch16_224', num_frames=16)\n    input_size = 64\n    num_frames = 16\n    batch_size = 2\n"
            "    optimizer.zero_grad()\n    scaler(loss, optimizer, parameters=net.parameters())\n\nmain()\n",
            "models.py": HEAD
            + "from timm.models.registry import register_model\n"
            + class_of("self.net = nn.Conv3d(3, 5, 1)").replace("net = Net()", "")
            + "@register_model\ndef vit_base_patch16_224(pretrained=False, **kwargs):\n    return Net()\n",
            "README.md": "```\npython train.py\n```\n",
        }
    )
    analysis = analyze(tree)
    assert analysis.spec.meta.workload_type.value == "training"
    own = next(f for f in analysis.findings if f.field == "media.own_outputs")
    assert int(own.value) == 5 * 16 * 64 * 64
    assert any(f.why.startswith("Net (") for f in analysis.findings if f.field == "hardware.vram_required_gb")


def test_a_convolution_with_weights_of_its_own_making_keeps_its_strides(checkout: Build) -> None:
    code = (
        "class Standard(nn.Conv2d):\n    def forward(self, x):\n        v, m = torch.var_mean(self.weight, dim=[1, 2, 3], keepdim=True)\n"
        "        w = (self.weight - m) / torch.sqrt(v + 1e-5)\n"
        "        return F.conv2d(x, w, self.bias, self.stride, self.padding, self.dilation, self.groups)\n"
    )
    layers = (
        "self.net = nn.Sequential(Standard(3, 8, 7, stride=2, padding=3), Standard(8, 16, kernel_size=1, bias=False))"
    )
    found = network(checkout, code + class_of(layers))
    assert found.parameters == 8 * 3 * 49 + 8 + 16 * 8
    assert found.outputs == 24 * 32 * 32
    assert not found.unknown


def test_a_module_may_have_the_name_of_its_class(checkout: Build) -> None:
    code = "import Agent\n\nnet = Agent.Agent(8)" + STEP
    held = "class Agent(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.net = nn.Linear(n, n)\n\n"
    held += "    def forward(self, x):\n        return self.net(x)\n\n\nclass Other(Agent):\n    pass\n"
    tree = checkout({"train.py": HEAD + code, "Agent.py": HEAD + held})
    run = primary_run(tree)
    assert run is not None
    assert run.script is not None
    found = own_network(network_sources(tree, run.script), InputSizes(64))
    assert found is not None
    assert (found.name, found.parameters) == ("Agent", 72)


@pytest.mark.parametrize(
    "keeps",
    [
        "for key, value in words.items():\n            setattr(self, key, value)",
        "self.__dict__.update(words)",
    ],
)
def test_an_object_holds_what_it_is_given_by_name(checkout: Build, keeps: str) -> None:
    code = (
        f"class Config:\n    def __init__(self, **words):\n        {keeps}\n\n"
        "class Wide(Config):\n    width = 999\n\n"
        "class Net(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.net = nn.Linear(config.width, config.width)\n\n    def forward(self, x):\n        return self.net(x)\n\n"
        "net = Net(Config(width=8))\n"
    )
    assert network(checkout, code).parameters == 72


def test_a_module_of_lightning_knows_what_it_was_given(checkout: Build) -> None:
    code = (
        "import lightning as L\n\nclass Net(L.LightningModule):\n    def __init__(self, width=16, lr=1e-3):\n        super().__init__()\n"
        "        self.save_hyperparameters()\n        self.net = nn.Linear(self.hparams.width, self.hparams.width)\n\n"
        "    def training_step(self, batch, index):\n        return self.net(batch).mean()\n\nnet = Net(width=8)\n"
    )
    assert network(checkout, code).parameters == 72


def test_edges_between_the_nearest_points_are_counted(checkout: Build) -> None:
    code = (
        "def edges(x, k):\n    n = x.size(2)\n    idx = torch.matmul(x.transpose(2, 1), x).topk(k=k, dim=-1)[1].view(-1)\n"
        "    x = x.transpose(2, 1).contiguous()\n    near = x.view(n, -1)[idx, :].view(1, n, k, -1)\n"
        "    x = x.view(1, n, 1, -1).repeat(1, 1, k, 1)\n    return torch.cat((near - x, x), dim=3).permute(0, 3, 1, 2)\n"
    ) + class_of(
        "self.norm = nn.BatchNorm2d(8)\nself.first = nn.Sequential(nn.Conv2d(6, 8, kernel_size=1), self.norm)\n"
        "self.second = nn.Conv2d(16, 4, kernel_size=1)",
        "x = self.first(edges(x, 20)).max(dim=-1)[0]\nx = self.second(edges(x, 20))\n"
        "return F.adaptive_max_pool2d(x.max(dim=-1, keepdim=True)[0], 1)",
    )
    found = network(checkout, code, InputSizes(64, points=128))
    products = 2 * 128 * 128
    assert found.outputs == products + 128 * 20 * (6 + 8 + 8 + 16 + 4)


def test_a_network_around_one_of_a_library_is_not_understood(checkout: Build) -> None:
    code = (
        "from torchvision.models.mobilenetv3 import MobileNetV3\n\n"
        "class Encoder(MobileNetV3):\n    def forward(self, x):\n        return self.features[0](x)\n"
    ) + class_of("self.encoder = Encoder()\nself.net = nn.Conv2d(3, 8, 1)", "return self.net(self.encoder(x))")
    assert network(checkout, code).unknown > 5


def test_parts_of_libraries_that_nothing_is_known_of_are_counted(checkout: Build) -> None:
    code = "from mamba_ssm import Mamba\n" + class_of(
        "self.net = nn.Conv2d(3, 8, 1)\nself.mixers = nn.ModuleList([Mamba(d_model=8) for _ in range(4)])"
    )
    assert network(checkout, code).unknown == 2


def test_layers_whose_kind_only_the_run_tells_are_missed_and_said_so(checkout: Build) -> None:
    code = class_of("kind = kinds()\nself.net = nn.Conv2d(3, 8, 1)\nself.rnn = kind(input_size=8, hidden_size=8)")
    assert network(checkout, code).unknown == 1
