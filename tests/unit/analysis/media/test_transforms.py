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


UNET = """import cv2
import torch
import torchvision.transforms.functional as TF
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
{before}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 64, 3, padding=1)
        self.b = nn.Conv2d(64, 2, 3, padding=1)

    def forward(self, x):
        return self.b(self.a(x))


class Pairs(Dataset):
    def __init__(self, paths, px=640):
        self.paths, self.px = paths, px

    def {reads}(self, i):
        image = {resized}
        return image, image[0]


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(Pairs("a"), {batch}):
    nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
RESIZED = (
    "cv2.resize(cv2.imread(self.paths[i]), (640, 640))",
    "cv2.resize(cv2.imread(self.paths[i]), dsize=(self.px, self.px))",
    "Image.open(self.paths[i]).resize((W, H))",
    "TF.resize(Image.open(self.paths[i]), [self.px, self.px])",
    "TF.resize(Image.open(self.paths[i]), size=SIDES)",
)


@pytest.mark.parametrize("resized", RESIZED)
def test_what_reads_a_sample_may_resize_it(checkout: Build, resized: str) -> None:
    before = "W, H = 640, 640\nSIDES = (640, 640)\n"
    text = UNET.format(before=before, reads="__getitem__", resized=resized, batch="batch_size=4")
    assert sides(checkout, {"train.py": text}) == "640x640"


@pytest.mark.parametrize(
    ("reads", "resized"),
    [
        ("show", RESIZED[0]),  # a picture for somebody to look at
        ("__getitem__", "cv2.resize(cv2.imread(self.paths[i]), None, fx=2, fy=2)"),
        ("__getitem__", "cv2.resize(cv2.imread(self.paths[i]), (width(), 640))"),
        ("__getitem__", "image.resize((3, 9))"),
    ],
)
def test_other_resizes_say_nothing_of_samples(checkout: Build, reads: str, resized: str) -> None:
    text = UNET.format(before="", reads=reads, resized=resized, batch="batch_size=4")
    assert sides(checkout, {"train.py": text}) is None


def batch(checkout: Build, text: str) -> str | None:
    found = analyze(checkout({"requirements.txt": "torch\n", "train.py": text, "settings.py": "CHUNK = 24\n"}))
    return next((f.value for f in found.findings if f.field == "training.batch_size"), None)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("24, True", "24"),
        ("CHUNK, shuffle=True", "24"),
        ("12, batch_size=24", "24"),
        ("**LOADS", "24"),
        ("*given", None),
        ("measure()", None),
    ],
)
def test_a_loader_takes_its_batch_in_the_second_place(checkout: Build, given: str, expected: str | None) -> None:
    before = 'from settings import CHUNK\nLOADS = {"batch_size": 24}\n' if "CHUNK" in given or "LOADS" in given else ""
    assert batch(checkout, UNET.format(before=before, reads="__getitem__", resized="load(i)", batch=given)) == expected


KERAS = """import tensorflow as tf
HEIGHT, WIDTH = 380, 384


def prepare(x, y):
    return tf.image.resize(x, {size}), y


train = tf.data.Dataset.from_tensor_slices(files).map(prepare).batch({batch})
model = tf.keras.applications.EfficientNetB4(weights=None)
model.compile(optimizer="adam")
model.fit(train, epochs=10)
"""


def test_a_data_set_of_tensorflow_s_is_resized_and_put_into_batches(checkout: Build) -> None:
    text = KERAS.format(size="(WIDTH, HEIGHT)", batch=24)
    assert batch(checkout, text) == "24"
    assert sides(checkout, {"train.py": text}) == "380x384"
    assert batch(checkout, KERAS.format(size="(WIDTH, HEIGHT)", batch="measure()")) is None


def test_a_pair_of_names_is_the_sides_that_one_line_sets(checkout: Build) -> None:
    text = "import tensorflow as tf\nHEIGHT, WIDTH = 380, 384\n"
    text += 'train = tf.keras.utils.image_dataset_from_directory("d", image_size=(HEIGHT, WIDTH))\n'
    text += KERAS.partition("train =")[2].partition("\n")[2]
    assert sides(checkout, {"train.py": text}) == "380x384"


FLAX = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.Conv(64, (3, 3))(x).mean((1, 2)))


SIDE = 192
params = Net().init(jax.random.PRNGKey(0), jnp.ones({shape}))
grads = jax.grad(loss)(params)
updates, state = optax.adam(1e-3).update(grads, state)
"""


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("(1, 192, 160, 3)", "192x160"),
        ("(8, SIDE, SIDE, 3)", "192x192"),
        ("[1, SIDE, SIDE, 1]", "192x192"),
        ("(1, 192, 160, 512)", None),  # no picture
        ("(1, 192)", None),
        ("(1, side(), side(), 3)", None),
    ],
)
def test_a_network_of_flax_is_made_with_a_picture(checkout: Build, shape: str, expected: str | None) -> None:
    assert sides(checkout, {"requirements.txt": "flax\n", "train.py": FLAX.format(shape=shape)}) == expected
