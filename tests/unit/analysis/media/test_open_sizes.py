"""Samples whose length or size only the data would tell: the sum is a bound, and what is usual counts more."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.open_sizes import DEFAULT_GIB
from gpu_lol_action.analysis.media.sizes import image_size
from tests.support.networks import PICTURES

Build = Callable[[Mapping[str, str]], Checkout]
TEXT = """
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from data import Texts

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 512)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(512, 8) for _ in range(6)])
        self.head = nn.Linear(512, 32000)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

net = Net().cuda()
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(Texts(), batch_size=256)
for batch in loader:
    loss = nn.functional.cross_entropy(net(batch).flatten(0, 1), batch.flatten())
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("code", "what"), [(TEXT, "how long its sequences are"), (PICTURES, "how large its pictures are")]
)
def test_a_size_that_nothing_says_makes_the_sum_a_bound(checkout: Build, code: str, what: str) -> None:
    analysis = analyze(checkout({"train.py": code, "requirements.txt": "torch"}))
    breakdown = analysis.breakdown
    assert breakdown is not None
    assert breakdown.high_gib > 50  # what it comes to at the usual size
    assert DEFAULT_GIB <= breakdown.required_gib <= 24
    gap = next(gap for gap in analysis.not_understood if what in gap)
    assert "upper bound" in gap


@pytest.mark.parametrize(
    ("code", "said"), [(TEXT, "Texts(), max_length=300"), (PICTURES, "Pictures(), image_size=512")]
)
def test_what_is_said_is_summed_as_it_is(checkout: Build, code: str, said: str) -> None:
    name = said.split("(", maxsplit=1)[0]
    told = code.replace(f"{name}()", f"{name}({said.rpartition(' ')[2]})")
    analysis = analyze(checkout({"train.py": told, "requirements.txt": "torch"}))
    assert analysis.breakdown is not None
    assert analysis.spec.hardware.vram_required_gb > 40
    assert not any("upper bound" in gap for gap in analysis.not_understood)


def test_what_no_card_holds_was_misread(checkout: Build) -> None:
    huge = PICTURES.replace("Pictures()", "Pictures(image_size=4000)").replace("batch_size=64", "batch_size=3")
    analysis = analyze(checkout({"train.py": huge, "requirements.txt": "torch"}))
    assert analysis.breakdown is not None
    assert DEFAULT_GIB <= analysis.breakdown.required_gib <= 80
    assert any("fits on no card" in gap for gap in analysis.not_understood)


def test_a_network_of_more_weights_than_anybody_writes_was_misread(checkout: Build) -> None:
    wide = PICTURES.replace("net = Net().cuda()", "net = nn.Linear(400000, 400000).cuda()")
    analysis = analyze(checkout({"train.py": wide, "requirements.txt": "torch"}))
    assert analysis.spec.hardware.vram_required_gb == DEFAULT_GIB
    assert not any(finding.field == "media.own_parameters" for finding in analysis.findings)


def test_a_small_sum_stays_as_it_is(checkout: Build) -> None:
    analysis = analyze(
        checkout({"train.py": PICTURES.replace("batch_size=64", "batch_size=2"), "requirements.txt": "torch"})
    )
    assert analysis.breakdown is not None
    assert analysis.breakdown.required_gib <= DEFAULT_GIB
    assert not any("upper bound" in gap for gap in analysis.not_understood)


def test_the_size_of_what_judges_pictures_is_not_the_run_s(checkout: Build) -> None:
    judge = "import torch.nn.functional as F\n\ndef features(x):\n    return F.interpolate(x, size=(299, 299))\n"
    code = PICTURES.replace(
        "from data import Pictures", "from data import Pictures\nfrom fid.inception import features"
    )
    analysis = analyze(checkout({"train.py": code, "fid/inception.py": judge, "requirements.txt": "torch"}))
    assert image_size(analysis.findings) is None


def test_a_data_set_that_the_command_names_says_its_pictures_size(checkout: Build) -> None:
    readme = "```\npython train.py --dataset cifar10 --batch_size 128\n```\n"
    options = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--dataset')\np.add_argument('--batch_size', type=int)\nargs = p.parse_args()\n"
    analysis = analyze(checkout({"train.py": options + PICTURES, "README.md": readme, "requirements.txt": "torch"}))
    assert image_size(analysis.findings) == (32, 32)


SHAPE = """
import jax
from flax import linen as nn
import optax

class Config:
    emb_dim: int = 512
    num_layers: int = 6
    num_heads: int = 8
LINES
def main(config):
    model = Transformer(Config())
    state = optax.adamw(1e-3).init(model.init(jax.random.PRNGKey(0)))
    grads = jax.grad(loss)(state, jax.local_devices())

if __name__ == "__main__":
    main(None)
"""


def test_a_shape_without_length_and_vocabulary_is_bounded_too(checkout: Build) -> None:
    run = "```\npython train.py --batch_size=64\n```\n"
    found = analyze(checkout({"README.md": run, "train.py": SHAPE.replace("LINES", "")}))
    told = analyze(
        checkout(
            {
                "README.md": run,
                "train.py": SHAPE.replace("LINES", "    vocab_size: int = 50304\n    max_len: int = 1024\n"),
            }
        )
    )
    assert found.breakdown is not None
    assert told.breakdown is not None
    assert found.breakdown.required_gib < 24 < told.breakdown.required_gib
    assert found.breakdown.high_gib > 40
    assert any("upper bound" in each for each in found.not_understood)
    assert not any("no sequence length" in each for each in found.not_understood)
    assert not any("upper bound" in each for each in told.not_understood)


DEEP = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 8192)
        self.layers = nn.ModuleList([nn.Linear(8192, 8192) for _ in range(32)])

    def forward(self, x):
        x = self.first(x)
        x = x.repeat(4096, 4096, 64)
        for layer in self.layers:
            x = layer(x)
        return x

net = Net().cuda().eval()
net.load_state_dict(torch.load('weights.pt'))
"""


def test_what_was_not_followed_of_a_run_that_infers_still_weighs(checkout: Build) -> None:
    analysis = analyze(checkout({"generate.py": DEEP, "requirements.txt": "torch"}))
    assert analysis.breakdown is not None
    weights = next(term.gib for term in analysis.breakdown.terms if term.name == "weights")
    assert weights == pytest.approx(33 * 8192**2 * 4 / 2**30, rel=0.05)
    assert analysis.breakdown.required_gib < 2 * weights


@pytest.mark.parametrize(
    ("data", "least", "most"),
    [("Own()", DEFAULT_GIB, 24), ("ImageFolder(root)", 45, 80)],
)
def test_so_does_one_of_a_counted_network_s_pictures(checkout: Build, data: str, least: int, most: int) -> None:
    program = f"import torch\nfrom torchvision.models import densenet121\nnet = densenet121().cuda()\nopt = torch.optim.Adam(net.parameters())\nloader = DataLoader({data}, batch_size=300)\nfor x in loader:\n    net(x).sum().backward()\n    opt.step()\n"
    analysis = analyze(checkout({"train.py": program, "requirements.txt": "torch"}))
    assert analysis.breakdown is not None
    assert least <= analysis.breakdown.required_gib <= most
    is_open = any("how large its pictures are" in gap for gap in analysis.not_understood)
    assert is_open is (data == "Own()")


def test_a_network_for_one_size_has_its_own(checkout: Build) -> None:
    program = "import timm, torch\nnet = timm.create_model('vit_base_patch16_224').cuda()\nopt = torch.optim.Adam(net.parameters())\nloader = DataLoader(Own(), batch_size=300)\nfor x in loader:\n    net(x).sum().backward()\n    opt.step()\n"
    analysis = analyze(checkout({"train.py": program, "requirements.txt": "torch\ntimm"}))
    assert not any("how large its pictures are" in gap for gap in analysis.not_understood)


RECIPE = "import torch\nfrom lhotse import CutSet\nfrom model import get_model\nnet = get_model(args).cuda()\nloss = net(cuts)\nloss.backward()\n"


@pytest.mark.parametrize(
    ("program", "command", "size_gb"),
    [
        (RECIPE, "python train.py --max-duration 1000 --fp16 1", 32),
        (RECIPE, "python train.py --max-duration 300", 32),
        (RECIPE, "python train.py --max-duration 5000", 48),  # batches are chosen for cards that exist
        (RECIPE, "python train.py --max-duration 20", DEFAULT_GIB),  # of a single sound
        (RECIPE.replace("lhotse", "cuts"), "python train.py --max-duration 1000", DEFAULT_GIB),
    ],
)
def test_the_seconds_of_a_batch_say_what_a_recognizer_of_speech_needs(
    checkout: Build, program: str, command: str, size_gb: int
) -> None:
    analysis = analyze(checkout({"train.py": program, "run.sh": f"{command}\n"}))
    assert analysis.proposed.hardware.vram_required_gb == size_gb


def test_the_seconds_of_a_batch_are_no_sample_s(checkout: Build) -> None:
    program = "import torch, whisper\nfrom lhotse import CutSet\nmodel = whisper.load_model('medium').cuda()\nopt = torch.optim.AdamW(model.parameters())\nmodel(x).backward()\n"
    needs = [
        analyze(checkout({"train.py": program, "run.sh": f"python train.py --max-duration {seconds}\n"})).breakdown
        for seconds in (160, 20)
    ]
    assert needs[0] is not None
    assert needs[1] is not None
    assert needs[0].expected_gib == needs[1].expected_gib


def test_what_a_model_s_card_says_is_for_inference(checkout: Build) -> None:
    train = "import torch, whisper\nmodel = whisper.load_model('large-v2').cuda()\nopt = torch.optim.AdamW(model.parameters())\nmodel(x).backward()\n"
    breakdown = analyze(checkout({"train.py": train})).breakdown
    assert breakdown is not None
    assert breakdown.required_gib > 24


SMALL = "import torch\nfrom lab.cifar10 import {name}\nfrom lab import Trainer, build\n\nclass Run({name}):\n    batch_size = 64\n\nif __name__ == '__main__':\n    net = build(Run()).cuda()\n    net(1).loss.backward()\n    torch.optim.Adam(net.parameters()).step()\n"


@pytest.mark.parametrize(("name", "gib"), [("CIFAR10Configs", 8), ("MNISTDataModule", 8), ("ImageConfigs", 12)])
def test_a_network_of_small_pictures_is_assumed_to_be_small(checkout: Build, name: str, gib: int) -> None:
    tree = checkout({"train.py": SMALL.format(name=name), "requirements.txt": "torch"})
    assert analyze(tree).spec.hardware.vram_required_gb == gib


@pytest.mark.parametrize(("adapter", "gib"), [("lora", 20), ("qlora", 12), ("", 12)])
def test_adapters_of_an_unknown_model_are_for_one_too_large_to_train_whole(
    checkout: Build, adapter: str, gib: int
) -> None:
    recipe = f"base_model: maker/Unheard-Of\n{f'adapter: {adapter}' if adapter else ''}\nmicro_batch_size: 1\n"
    recipe += (
        "datasets:\n  - path: a/b\n    type: alpaca\nload_in_4bit: true\n"
        if adapter == "qlora"
        else "datasets:\n  - path: a/b\n    type: alpaca\n"
    )
    assert analyze(checkout({"ours.yaml": recipe})).spec.hardware.vram_required_gb == gib
