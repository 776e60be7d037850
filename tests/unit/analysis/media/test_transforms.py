"""A picture's sides are what the run's transforms bring it to, wherever these are written and whatever they are called there."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

HEAD = """import timm
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
"""
BODY = """data = datasets.ImageFolder("data", transforms.Compose([transforms.RandomResizedCrop({side}), transforms.ToTensor()]))
model = timm.create_model("vit_base_patch16_224").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x, y in DataLoader(data, batch_size=32):
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""


def program(side: str, before: str = "") -> str:
    return before + HEAD + BODY.format(side=side)


def function(head: str, side: str, after: str) -> str:
    return HEAD + head + "\n" + "".join(f"    {line}\n" for line in BODY.format(side=side).splitlines()) + after


PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--px', type=int, default=64)\nargs = p.parse_args()\n"
FORMS = {
    "a command": {"train.py": program("args.px", PARSER), "run.sh": "python train.py --px 384\n"},
    "a configuration": {
        "config.yaml": "data:\n  px: 384\n",
        "train.py": program("cfg['data']['px']", "import yaml\ncfg = yaml.safe_load(open('config.yaml'))\n"),
    },
    "a module": {"settings.py": "PX = 384\n", "train.py": program("PX", "from settings import PX\n")},
    "height and width": {
        "settings.py": "H = 384\nW = 384\n",
        "train.py": program("(s.H, s.W)", "import settings as s\n"),
    },
    "a call": {"train.py": function("def fit(px):", "px", "\n\nfit(384)\n")},
    "a function that a library calls": {
        "train.py": "import fire\n" + function("def fit(px: int = 384):", "px", "\n\nfire.Fire(fit)\n")
    },
    "a data set's own module": {
        "data.py": "from torch.utils.data import Dataset\nfrom torchvision import transforms\n\n\nclass Pairs(Dataset):\n"
        "    def __init__(self, root, px):\n        self.px = px\n"
        "        self.change = transforms.Compose([transforms.RandomCrop((self.px, self.px))])\n",
        "train.py": program("1", "from data import Pairs\n").replace("datasets.ImageFolder", "Pairs")
        .replace("transforms.Compose([transforms.RandomResizedCrop(1), transforms.ToTensor()])", "px=384"),
    },
    "albumentations": {
        "settings.py": "H = 384\n",
        "train.py": program("384", "import settings\nimport albumentations as A\n").replace(
            "transforms.RandomResizedCrop(384)", "A.Resize(height=settings.H, width=settings.H)"
        ),
    },
}  # fmt: skip


def sides(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "timm\ntorchvision\n", **files}))
    return next((f.value for f in found.findings if f.field == "media.image_size"), None)


@pytest.mark.parametrize("form", FORMS)
def test_sides_are_followed_to_where_they_are_written(checkout: Build, form: str) -> None:
    assert sides(checkout, FORMS[form]) in {"384", "384x384"}


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": program("measure()")},
        {"train.py": function("def fit(px):", "px", "\n\nfit(measure())\n")},
        {
            "train.py": function("def fit(px):", "px", "\n\nfit(256)\nfit(384)\n")
        },  # which of them is the run is not told
        {"train.py": program("(measure(), 384)").replace(", 384)", ", width())")},
        {"train.py": program("px", "from elsewhere import px\n")},
    ],
)
def test_sides_that_are_not_told_in_one_way_are_not_told(checkout: Build, files: dict[str, str]) -> None:
    assert sides(checkout, files) == "224"  # as the pictures of any such folder are taken to be


def test_what_stands_behind_one_side_need_not_be_the_other(checkout: Build) -> None:
    crop = "transforms.RandomResizedCrop(384, (0.08, 1.0))"
    text = program("384").replace("transforms.RandomResizedCrop(384)", crop)
    assert sides(checkout, {"train.py": text}) == "384"
    again = text.replace(crop, "transforms.Resize(384, 3)")  # how to interpolate
    assert sides(checkout, {"train.py": again}) == "384"
