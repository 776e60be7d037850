"""An image, or a service, gives what it starts variables: those count that its program asks the environment for."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

PROGRAM = """import os
import timm
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

PX = int(os.environ["PX"])
data = datasets.ImageFolder("data", transforms.Compose([transforms.RandomResizedCrop(PX), transforms.ToTensor()]))
model = timm.create_model(os.environ.get("ZOO", "resnet18")).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x, y in DataLoader(data, batch_size=int(os.getenv("CHUNK", "4"))):
    torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
ENV = "ENV ZOO=convnext_large\nENV PX 384\nENV CHUNK=48 OTHER=1\n"
IMAGE = 'FROM pytorch/pytorch\nCOPY . .\n{env}CMD ["python", "train.py"]\n'
SERVICE = "services:\n  train:\n    image: mine/train\n    command: python train.py\n    environment:\n"
MAPPED = SERVICE + "      ZOO: convnext_large\n      PX: 384\n      CHUNK: 48\n"
LISTED = SERVICE + "      - ZOO=convnext_large\n      - PX=384\n      - CHUNK=48\n"


def told(checkout: Build, files: dict[str, str]) -> tuple[str | None, ...]:
    found = analyze(checkout({"requirements.txt": "timm\n", "train.py": PROGRAM, **files})).findings
    fields = ("media.network", "media.image_size", "training.batch_size")
    return tuple(next((f.value for f in found if f.field == field), None) for field in fields)


@pytest.mark.parametrize(
    "files",
    [{"Dockerfile": IMAGE.format(env=ENV)}, {"docker-compose.yml": MAPPED}, {"docker-compose.yml": LISTED}],
    ids=["image", "mapping", "list"],
)
def test_a_container_says_what_its_program_asks_for(checkout: Build, files: dict[str, str]) -> None:
    assert told(checkout, files) == ("convnext_large", "384", "48")


def test_each_service_has_its_own(checkout: Build) -> None:
    other = "  other:\n    image: mine/other\n    command: sleep 1\n    environment:\n      PX: 64\n"
    assert told(checkout, {"docker-compose.yml": MAPPED + other}) == ("convnext_large", "384", "48")


def test_the_last_of_a_name_counts(checkout: Build) -> None:
    image = IMAGE.format(env=ENV + "ENV PX=512\n")
    assert told(checkout, {"Dockerfile": image}) == ("convnext_large", "512", "48")


def test_what_stands_in_front_of_the_command_goes_before(checkout: Build) -> None:
    image = IMAGE.format(env=ENV).replace('["python", "train.py"]', "PX=512 python train.py")
    assert told(checkout, {"Dockerfile": image})[1] == "512"


def test_a_line_that_goes_on_sets_too_whatever_stands_in_front_of_the_command(checkout: Build) -> None:
    image = IMAGE.format(env="ENV ZOO=convnext_large \\\n    # pixels\n    PX=384\nenv CHUNK 48\n")
    image = image.replace('["python", "train.py"]', "OTHER=1 python train.py")
    assert told(checkout, {"Dockerfile": image}) == ("convnext_large", "384", "48")


@pytest.mark.parametrize(
    "files",
    [
        {"Dockerfile": IMAGE.format(env=ENV), "run.sh": "python train.py\n"},  # which is not started in the image
        {"docker-compose.yml": SERVICE.replace("    environment:\n", "  other:\n    environment:\n      PX: 384\n")},
        {"Dockerfile": IMAGE.format(env="# ENV PX=384\nRUN echo ENV PX=384\n")},
    ],
)
def test_another_container_s_variables_say_nothing(checkout: Build, files: dict[str, str]) -> None:
    assert told(checkout, files)[1] in {None, "224"}  # 224: as the pictures of any folder are taken to be
