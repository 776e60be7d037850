"""Networks that a program takes from a library by a name are those that the run says, wherever it says so."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LOOP = """import torch
from torchvision import models
{before}
model = {call}.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(data, batch_size=32):
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--zoo', default='resnet18')\nargs = p.parse_args()\n"
CALLS = (
    "models.__dict__[{name}](weights=None)",
    "getattr(models, {name})(weights=None)",
    "vars(models)[{name}]()",
    "models.get_model({name})",
)


def built(checkout: Build, files: dict[str, str]) -> str | None:
    found = analyze(checkout({"requirements.txt": "torchvision\n", **files}))
    assert found.spec.hardware is not None
    return next((f.value for f in found.findings if f.field == "media.network"), None)


@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_is_written_is_the_networks(checkout: Build, call: str) -> None:
    text = LOOP.format(before="", call=call.format(name='"resnet152"'))
    assert built(checkout, {"train.py": text}) == "resnet152"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("before", "name", "other"),
    [
        (PARSER, "args.zoo", {"run.sh": "python train.py --zoo resnet152\n"}),
        ("from settings import ZOO\n", "ZOO", {"settings.py": "ZOO = 'resnet152'\n"}),
        ("import yaml\ncfg = yaml.safe_load(open('c.yaml'))\n", "cfg['zoo']", {"c.yaml": "zoo: resnet152\n"}),
    ],
)
def test_a_name_is_followed_to_where_it_is_written(
    checkout: Build, call: str, before: str, name: str, other: dict[str, str]
) -> None:
    text = LOOP.format(before=before, call=call.format(name=name))
    assert built(checkout, {"train.py": text, **other}) == "resnet152"


def test_kerass_networks_have_names_of_their_own(checkout: Build) -> None:
    call = "getattr(tf.keras.applications, 'ResNet152V2')(weights=None)"
    text = LOOP.format(before="import tensorflow as tf\n", call=call)
    assert built(checkout, {"train.py": text}) == "resnet152"


@pytest.mark.parametrize(
    "call", ["models.__dict__[{name}]()", "getattr(models, {name})()", "getattr(own, {name})()", "registry[{name}]()"]
)
def test_a_package_of_the_projects_own_may_mean_another_network_by_the_name(checkout: Build, call: str) -> None:
    text = LOOP.format(before="", call=call.format(name='"resnet152"'))
    text = text.replace("from torchvision import models", "import models\nimport own\nfrom models import registry")
    assert built(checkout, {"train.py": text}) is None


@pytest.mark.parametrize("name", ["chosen()", "ZOO[0]", "'my_net'"])
def test_a_name_that_nothing_tells_is_no_network(checkout: Build, name: str) -> None:
    text = LOOP.format(before="", call=CALLS[0].format(name=name))
    assert built(checkout, {"train.py": text}) is None


SAM = """import torch
from segment_anything import SamPredictor, sam_model_registry
{before}
sam = sam_model_registry[{kind}](checkpoint="sam.pth").to("cuda")
predictor = SamPredictor(sam)
predictor.set_image(image)
masks = predictor.predict(point_coords=points)
"""


@pytest.mark.parametrize(
    ("before", "kind", "files", "network"),
    [
        ("", '"vit_h"', {}, "sam-vit-h"),
        ("KIND = 'vit_l'", "KIND", {}, "sam-vit-l"),
        ("from settings import KIND", "KIND", {"settings.py": "KIND = 'vit_h'\n"}, "sam-vit-h"),
        (PARSER, "args.zoo", {"run.sh": "python run.py --zoo vit_b\n"}, "sam-vit-b"),
        ("", "pick()", {}, None),
        ("", '"mine"', {}, None),
    ],
)
def test_a_library_s_table_has_its_networks_by_name(
    checkout: Build, before: str, kind: str, files: dict[str, str], network: str | None
) -> None:
    assert built(checkout, {"run.py": SAM.format(before=before, kind=kind), **files}) == network


YOLO = "from ultralytics import YOLO\n{before}\nmodel = YOLO({weights})\nmodel.train({given})\n"


@pytest.mark.parametrize(
    "text",
    [
        YOLO.format(before="", weights='"yolov8x.pt"', given='data="a.yaml", imgsz=1280, batch=16'),
        YOLO.format(before='P = dict(data="a.yaml", imgsz=1280, batch=16)', weights='"yolov8x.pt"', given="**P"),
        YOLO.format(before='P = {"data": "a.yaml", "imgsz": 1280, "batch": 16}', weights='"yolov8x.pt"', given="**P"),
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--size', default='n')\n"
        "p.add_argument('--px', type=int, default=640)\na = p.parse_args()\n"
        + YOLO.format(before="", weights='f"yolov8{a.size}.pt"', given='data="a.yaml", imgsz=a.px, batch=16'),
    ],
)
def test_a_detector_of_ultralytics_is_trained_as_it_is_told(checkout: Build, text: str) -> None:
    script = "python train.py --size x --px 1280\n" if "argparse" in text else ""
    found = analyze(checkout({"requirements.txt": "ultralytics\n", "train.py": text, "run.sh": script}))
    told: dict[str, str] = {}
    for each in found.findings:
        told.setdefault(each.field, each.value)
    assert told["workload"] == "training"
    assert (told["media.network"], told["media.image_size"], told["training.batch_size"]) == ("yolov8x", "1280", "16")


@pytest.mark.parametrize("given", ["", "False", "mode=False"])
def test_to_put_a_detector_into_a_state_is_no_training(checkout: Build, given: str) -> None:
    text = YOLO.format(before="", weights='"yolov8x.pt"', given=given) + 'model.predict("a.png")\n'
    found = analyze(checkout({"requirements.txt": "ultralytics\n", "run.py": text}))
    assert next(f.value for f in found.findings if f.field == "workload") == "inference"


@pytest.mark.parametrize(
    ("words", "workload"),
    [
        ("detect train model=yolov8x.pt data=a.yaml", "training"),
        ("task=detect mode=train model=yolov8x.pt data=a.yaml", "training"),
        ("mode=predict model=yolov8x.pt source=a.png", "inference"),
    ],
)
def test_ultralytics_command_says_what_it_does(checkout: Build, words: str, workload: str) -> None:
    found = analyze(checkout({"requirements.txt": "ultralytics\n", "run.sh": f"yolo {words} imgsz=1280\n"}))
    assert next(f.value for f in found.findings if f.field == "workload") == workload


@pytest.mark.parametrize(
    ("before", "call", "network"),
    [
        ("", 'torch.hub.load("facebookresearch/dinov2", "dinov2_vitl14")', "vit_large_patch14_dinov2"),
        ("", 'torch.hub.load(repo_or_dir="pytorch/vision", model="resnet152")', "resnet152"),
        ("from torch import hub\nKIND = 'resnet152'\n", 'hub.load("pytorch/vision:v0.10.0", KIND)', "resnet152"),
        ("", 'torch.hub.load("a/b", "mine")', None),
        ("", 'torch.load("a.pth", "resnet152")', None),
    ],
)
def test_torch_s_hub_loads_by_name(checkout: Build, before: str, call: str, network: str | None) -> None:
    text = LOOP.format(before=before, call=call).replace("from torchvision import models", "")
    assert built(checkout, {"train.py": text}) == network
