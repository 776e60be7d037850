from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media import media
from gpu_lol_action.analysis.media.question import media_model, with_media
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram_question import Method, VramQuestion

Build = Callable[[Mapping[str, str]], Checkout]

STEP = "\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"
DIGITS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision import datasets

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(F.max_pool2d(self.conv2(self.conv1(x)), 2))

data = datasets.MNIST("data")
net = Net().to("cuda")
"""
BLOCKS = """
import torch
import torch.nn as nn

class Block(nn.Module):
    expansion = 1

    def __init__(self, inner, planes, stride=1):
        super().__init__()
        self.a = nn.Conv2d(inner, planes, kernel_size=3, stride=stride, bias=False)
        self.b = nn.Conv2d(planes, planes, kernel_size=3, stride=1, bias=False)
        self.shortcut = nn.Sequential()
        if stride != 1 or inner != self.expansion * planes:
            self.shortcut = nn.Sequential(nn.Conv2d(inner, self.expansion * planes, kernel_size=1, stride=stride))

class ResNet(nn.Module):
    def __init__(self, block, depths, classes=10):
        super().__init__()
        self.inner = 64
        self.stem = nn.Conv2d(3, 64, kernel_size=3)
        self.layer1 = self._layer(block, 64, depths[0], stride=1)
        self.layer2 = self._layer(block, 128, depths[1], stride=2)
        self.layer3 = self._layer(block, 256, depths[2], stride=2)
        self.layer4 = self._layer(block, 512, depths[3], stride=2)
        self.head = nn.Linear(512 * block.expansion, classes)

    def _layer(self, block, planes, depth, stride):
        layers = []
        for step in [stride] + [1] * (depth - 1):
            layers.append(block(self.inner, planes, step))
            self.inner = planes * block.expansion
        return nn.Sequential(*layers)

net = ResNet(Block, [2, 2, 2, 2]).cuda()
"""
TEXT = """
import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=650)
args = parser.parse_args()

class Words(nn.Module):
    def __init__(self, vocabulary, width, layers):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = nn.LSTM(width, width, layers)
        self.decoder = nn.Linear(width, vocabulary)

words = 33278
net = Words(words, args.hidden, 2).to("cuda")
"""
KERAS = """
from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential([
    layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(10),
])
model.compile(optimizer="adam")
model.fit(x, y, batch_size=128)
"""


def found(checkout: Checkout) -> dict[str, str]:
    findings = media.detect(checkout, primary_run(checkout))
    first: dict[str, str] = {}
    for finding in findings:
        first.setdefault(finding.field, finding.value)
    return first


@pytest.mark.parametrize(
    ("program", "parameters", "within"),
    [
        (DIGITS + STEP, 1_199_882, 0.001),  # the layers' own sums: 320 + 18,496 + 1,179,776 + 1,290
        (BLOCKS + STEP, 11_170_000, 0.01),  # a ResNet-18 for pictures of 32 pixels
        (TEXT + STEP, 50_056_000, 0.01),  # 21.6 M in, 6.8 M of two LSTM layers, 21.6 M out
        (KERAS, 49_000, 0.5),  # padding is not followed: 5 x 5 x 64 or 7 x 7 x 64 inputs of the last layer
    ],
)
def test_own_network_is_summed_up(checkout: Build, program: str, parameters: int, within: float) -> None:
    values = found(checkout({"train.py": program}))
    assert int(values["media.own_parameters"]) == pytest.approx(parameters, rel=within)


def test_a_network_that_another_module_defines_is_followed(checkout: Build) -> None:
    tree = checkout({
        "train.py": "import torch\nfrom model import Net\nnet = Net(depth=3).cuda()\n" + STEP,
        "model.py": "import torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, depth, width=100):\n        super().__init__()\n"
                    "        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])\n",
    })  # fmt: skip
    assert found(tree)["media.own_parameters"] == str(3 * 100 * 101)


def test_layers_of_unknown_size_make_the_finding_unsure(checkout: Build) -> None:
    program = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    program += (
        "        self.a = nn.Linear(n, n)\n        self.b = nn.Linear(4, 4)\n\nnet = Net(read_width()).cuda()\n" + STEP
    )
    tree = checkout({"train.py": program})
    own = [f for f in media.detect(tree, primary_run(tree)) if f.field == "media.own_parameters"]
    assert [finding.confidence for finding in own] == [Confidence.LOW]
    assert media_model(own) is None


def test_a_network_without_end_is_left(checkout: Build) -> None:
    program = "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    program += "        self.y = nn.Linear(9, 9)\n        for a in range(10**8):\n            for b in range(10**8):\n                self.x = Net()\n"
    values = found(checkout({"train.py": program + "\nnet = Net().cuda()\n" + STEP}))
    assert int(values["media.own_parameters"]) > 0


@pytest.mark.parametrize(
    ("files", "size"),
    [
        ({"train.py": DIGITS + STEP}, "28"),
        ({"train.py": "import torch\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--imgsz', default=640)\nloss.backward()\n"}, "640"),
        ({"train.py": "import torch\nheight = 480\nwidth = 832\nloss.backward()\n"}, "480x832"),
        ({"train.py": "import torch\nfrom torchvision import transforms\nt = transforms.RandomResizedCrop(224)\nloss.backward()\n"}, "224"),
        ({"train.py": "import torch\nfrom a import RandomResize\nscales = [480, 800]\nt = RandomResize(scales, max_size=1333)\nloss.backward()\n"}, "800x1333"),
        ({"train.py": "import torch\nloss.backward()\n", "README.md": "```\npython train.py --resolution 1024\n```\n"}, "1024"),
        ({"train.py": "import torch\nloss.backward()\n", "README.md": "```\npython train.py --max_height 720 --max_width 1280\n```\n"}, "720x1280"),
    ],
)  # fmt: skip
def test_image_size_is_read(checkout: Build, files: Mapping[str, str], size: str) -> None:
    assert found(checkout(files))["media.image_size"] == size


@pytest.mark.parametrize(
    ("line", "network"),
    [
        ("from torchvision import models\nnet = models.resnet34(pretrained=True)", "resnet34"),
        ("from torchvision.models import vgg16\nnet = vgg16()", "vgg16"),
        ("import timm\nnet = timm.create_model('vit_base_patch16_224')", "vit_base_patch16_224"),
        ("from ultralytics import YOLO\nnet = YOLO('yolov8m.pt')", "yolov8m"),
        (
            "import segmentation_models_pytorch as smp\nnet = smp.DeepLabV3Plus(encoder_name='resnet34')",
            "deeplabv3_resnet50",
        ),
        ("from tensorflow.keras.applications import ResNet50\nnet = ResNet50(weights=None)", "resnet50"),
        ("import tensorflow as tf\nnet = tf.keras.applications.ResNet50(weights=None)", "resnet50"),
        ("import tensorflow as tf\nnet = tf.keras.applications.resnet_v2.ResNet50V2()", "resnetv2_50"),
        ("import keras\nnet = keras.applications.MobileNetV3Small()", "mobilenet_v3_small"),
        ("import keras\nnet = keras.applications.ConvNeXtTiny()", "convnext_tiny"),
    ],
)
def test_network_of_a_library_is_found(checkout: Build, line: str, network: str) -> None:
    program = f"import torch\n{line}\nnet = net.cuda()\n{STEP}"
    assert found(checkout({"train.py": program}))["media.network"] == network


def test_a_call_of_an_instance_is_no_network(checkout: Build) -> None:
    program = (
        "import torch\nfrom diffusers import UNet2DConditionModel\nunet = UNet2DConditionModel.from_pretrained(path)\n"
    )
    values = found(checkout({"train.py": program + "noise = unet(latents)\nloss.backward()\nopt.step()\n"}))
    assert "media.network" not in values


def test_trained_part_is_found(checkout: Build) -> None:
    program = "import torch\nfrom diffusers import ControlNetModel\nnet = ControlNetModel.from_unet(unet)\n"
    assert found(checkout({"train_controlnet.py": program + STEP}))["media.trained_part"] == "controlnet"


def test_offload_is_found(checkout: Build) -> None:
    program = (
        "from diffusers import FluxPipeline\npipe = FluxPipeline.from_pretrained('black-forest-labs/FLUX.1-dev')\n"
    )
    values = found(checkout({"infer.py": program + "pipe.enable_model_cpu_offload()\nimage = pipe('a').images[0]\n"}))
    assert values.get("media.offload") == "parts"


def test_policies_of_agents_are_small(checkout: Build) -> None:
    program = (
        "from stable_baselines3 import PPO\nmodel = PPO('MlpPolicy', env, verbose=1)\nmodel.learn(total_timesteps=10)\n"
    )
    assert int(found(checkout({"train.py": program}))["media.own_parameters"]) < 100_000
    named = program.replace("PPO('MlpPolicy', env, ", "PPO(env=env, policy='MlpPolicy', ")
    assert found(checkout({"train.py": named}))["media.own_network"] == "MlpPolicy"


def test_the_network_of_a_loss_is_not_what_is_trained(checkout: Build) -> None:
    loss = "import torchvision\nclass Features:\n    def __init__(self):\n        self.net = torchvision.models.vgg19(pretrained=True)\n"
    program = "import torch\nfrom models.{0} import Features\nnet = build(opt)\nFeatures()\nnet(x).sum().backward()\n"
    beside = found(checkout({"train.py": program.format("loss"), "models/loss.py": loss}))
    assert "media.network" not in beside
    assert found(checkout({"train.py": program.format("net"), "models/net.py": loss}))["media.network"] == "vgg19"


def question(model: str, method: Method) -> VramQuestion:
    facts = find_model(model)
    assert facts is not None
    return VramQuestion(facts, method)


def said(**values: str) -> list[Finding]:
    return [
        Finding(f"media.{key}", value, "said", Confidence.HIGH, Evidence("a.py", 1)) for key, value in values.items()
    ]


def test_with_media_fills_the_question() -> None:
    asked = with_media(question("Wan-AI/Wan2.1-T2V-1.3B", Method.INFERENCE),
                       said(image_size="480x832", frames="81", offload="parts", text_encoder="elsewhere"))  # fmt: skip
    assert (asked.image_height, asked.image_width, asked.frames) == (480, 832, 81)
    assert asked.is_one_part_at_a_time
    assert asked.is_text_encoder_elsewhere
    small = with_media(question("resnet18", Method.PRETRAIN), said(image_size="32"))
    assert small.image_height == 128


def test_media_model_takes_the_larger_of_backbone_and_what_was_read_of_the_whole() -> None:
    own = said(own_network="Detector", own_parameters="30000000", own_outputs="5")
    whole = ModelFacts("Detector", "own", 0.03, source="layers")
    assert media_model(own) == whole
    partly = [replace(finding, why="3 layers could not be sized") for finding in own]
    backbone = media_model([*partly, *said(network="resnet101")])
    assert backbone is not None
    assert backbone.name == "resnet101"
    # Read to its last layer, it has no such backbone: another module of the checkout builds that.
    assert media_model([*own, *said(network="resnet101")]) == whole
    assert media_model([]) is None


def test_height_and_width_of_text_lines_are_read_from_their_options(checkout):
    program = "import argparse, torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--imgH', type=int, default=32)\nparser.add_argument('--imgW', type=int, default=100)\nif __name__ == '__main__':\n    model.cuda()\n    loss.backward()\n"
    said = found(checkout({"train.py": program, "requirements.txt": "torch\n"}))
    assert said["media.image_size"] == "32x100"


NAMED = "import argparse\nimport torch\nfrom timm.models import create_model\np = argparse.ArgumentParser()\np.add_argument('--model', default='deit_base_patch16_224')\nargs = p.parse_args()\nnet = create_model(args.model).cuda()\ntorch.optim.AdamW(net.parameters())\nloss.backward()\n"


@pytest.mark.parametrize(
    ("option", "network"),
    [
        ("", "deit_base_patch16_224"),
        ("--model vit_small_patch16_224", "vit_small_patch16_224"),
        ("--model <model>", "deit_base_patch16_224"),
        ("--model ours_tiny_patch16_224", None),
    ],
)
def test_a_network_by_the_name_that_the_command_gives(checkout: Build, option: str, network: str | None) -> None:
    tree = checkout({"main.py": NAMED, "README.md": f"```\npython main.py --lr 1 {option}\n```\n"})
    found = analyze(tree).findings
    assert next((f.value for f in found if f.field == "media.network"), None) == network
    assert network is not None or not any(f.field == "model.id" for f in found)


def test_what_a_layer_takes_is_no_picture(checkout: Build) -> None:
    text = "import torch\nfrom ours import Dense\nnet = torch.nn.Linear(8, 8)\nhead = Dense(input_size=768, output_size=768)\nnet(x).sum().backward()\n"
    told = text.replace("Dense(input_size=768, output_size=768)", "Net(input_size=224)")
    assert not [f for f in analyze(checkout({"train.py": text})).findings if f.field == "media.image_size"]
    assert [f.value for f in analyze(checkout({"train.py": told})).findings if f.field == "media.image_size"] == ["224"]


@pytest.mark.parametrize(
    "drawn", ["dict(title='loss', width=350, height=350)", "figure.update_layout(width=900, height=700)"]
)
def test_the_sides_of_a_plot_are_no_picture_s(checkout: Build, drawn: str) -> None:
    text = f"import torch\nshow({drawn})\nloss.backward()\noptimizer.step()\n"
    assert not [f for f in analyze(checkout({"train.py": text})).findings if f.field == "media.image_size"]
