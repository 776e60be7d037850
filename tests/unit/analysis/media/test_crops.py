"""Sizes of what goes in: a cut out of a picture, and tubes of patches over the pictures of a clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.media.sizes import image_size

Build = Callable[[Mapping[str, str]], Checkout]
STEP = "\nnet = net.cuda()\nopt = torch.optim.Adam(net.parameters())\nloss.backward()\nopt.step()\n"
CROPPED = """
import torch
import torch.nn as nn
from torchvision import transforms
steps = transforms.Compose([transforms.Resize(size=(512, 512)), transforms.RandomCrop(256), transforms.ToTensor()])
net = nn.Conv2d(3, 8, 3)
"""
VIDEO = """
import torch
from models import VisionTransformer
net = VisionTransformer(img_size=224, patch_size=16, num_frames=16, {tubes}embed_dim=1024, depth=24, num_heads=16)
loader = torch.utils.data.DataLoader(clips, batch_size=4)
"""


def test_what_is_cut_out_after_resizing_goes_in(checkout: Build) -> None:
    assert image_size(analyze(checkout({"train.py": CROPPED + STEP})).findings) == (256, 256)
    alone = CROPPED.replace("transforms.RandomCrop(256), ", "")
    assert image_size(analyze(checkout({"train.py": alone + STEP})).findings) == (512, 512)


def test_a_transformer_over_clips_has_a_tube_of_patches_for_every_few_pictures(checkout: Build) -> None:
    tubes = analyze(checkout({"train.py": VIDEO.format(tubes="tubelet_size=2, ") + STEP})).breakdown
    each = analyze(checkout({"train.py": VIDEO.format(tubes="") + STEP})).breakdown
    one = analyze(checkout({"train.py": VIDEO.format(tubes="").replace("num_frames=16, ", "") + STEP})).breakdown
    assert tubes is not None
    assert each is not None
    assert one is not None

    def activations(breakdown):
        return next(term.gib for term in breakdown.terms if term.name == "activations")

    assert 7 < activations(tubes) / activations(one) < 9
    assert 13 < activations(each) / activations(one) < 17


def test_the_data_set_that_is_named_is_cropped_as_it_is(checkout: Build) -> None:
    code = (
        "import argparse\nimport torch\nimport torch.nn as nn\nfrom torchvision import transforms\n"
        "p = argparse.ArgumentParser()\np.add_argument('--dataset', default='imagenet')\nargs = p.parse_args()\n"
        "if args.dataset == 'imagenet':\n    t = transforms.Compose([transforms.RandomResizedCrop(224)])\n"
        "else:\n    t = transforms.Compose([{cifar}])\n"
        "net = nn.Conv2d(3, 8, 3)\n" + STEP
    )
    readme = "```\npython train.py --dataset cifar100\n```\n"
    own = checkout({"train.py": code.replace("{cifar}", "transforms.RandomCrop(32, padding=4)"), "README.md": readme})
    assert image_size(analyze(own).findings) == (32, 32)
    resized = checkout({"train.py": code.replace("{cifar}", "transforms.Resize(224)"), "README.md": readme})
    assert image_size(analyze(resized).findings) == (224, 224)


BRANCHED = (
    "import argparse\nimport torch\nfrom data import loader\np = argparse.ArgumentParser()\n"
    "p.add_argument('--kind', default='text')\nargs = p.parse_args()\nloader(args)\n"
)
DATA = (
    "import torch\nfrom torchvision import transforms\n\ndef loader(args):\n    if args.kind == 'pictures':\n"
    "        return transforms.Compose([transforms.CenterCrop(512)])\n    return open(args.path)\n"
)


@pytest.mark.parametrize(("option", "sides"), [("", None), (" --kind pictures", (512, 512))])
def test_a_transform_that_options_switch_off_gives_no_size(
    checkout: Build, option: str, sides: tuple[int, int] | None
) -> None:
    files = {"train.py": BRANCHED + "net = torch.nn.Linear(2, 2)" + STEP, "data.py": DATA, "run.sh": f"python train.py{option}\n"}  # fmt: skip
    assert image_size(analyze(checkout(files)).findings) == sides
