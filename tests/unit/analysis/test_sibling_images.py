"""Of a collection's sub-projects each has an image of its own."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

IMAGE = "nvcr.io/nvidia/pytorch:20.12-py3"
DOCKER = f"FROM {IMAGE}\nRUN pip install pyspng==0.1.0\n"
TRAIN = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nnet(x).sum().backward()\n"
FILES = {
    "README.md": "# Nets\n```\ncd net-a\npython train_low.py\n```\n",
    "net-a/train_low.py": TRAIN,
    "net-a/data.py": "import numpy\n",
    "net-b/train.py": TRAIN,
    "net-b/data.py": "import numpy\n",
}


def test_the_image_of_another_sub_project_is_not_the_runs(checkout: Build) -> None:
    spec = analyze(checkout({**FILES, "net-b/Dockerfile": DOCKER})).spec
    assert spec.environment.base_image != IMAGE
    assert "pyspng==0.1.0" not in spec.dependencies.requirements


def test_an_image_above_the_programs_of_another_sub_project_is_not_the_runs(checkout: Build) -> None:
    files = {**FILES, "net-2.5/Dockerfile": DOCKER, "net-2.5/__init__.py": "", "net-2.5/demo/app.py": "import numpy\n"}
    assert "pyspng==0.1.0" not in analyze(checkout(files)).spec.dependencies.requirements


@pytest.mark.parametrize(
    "files",
    [
        {"Dockerfile": DOCKER},
        {"net-a/Dockerfile": DOCKER},
        {"docker/Dockerfile": DOCKER, "docker/build.py": "import os\n"},  # a folder for images
        {"images-b/Dockerfile": DOCKER},
        {"other/Dockerfile": DOCKER},  # where no programs are
    ],
)
def test_an_image_for_all_counts(checkout: Build, files: dict[str, str]) -> None:
    spec = analyze(checkout({**FILES, **files})).spec
    assert spec.environment.base_image == IMAGE
    assert "pyspng==0.1.0" in spec.dependencies.requirements


def test_a_run_at_the_root_takes_the_image_below(checkout: Build) -> None:
    files = {
        "README.md": "```\npython train.py\n```\n",
        "train.py": TRAIN,
        "net-b/data.py": "",
        "net-b/Dockerfile": DOCKER,
    }
    assert analyze(checkout(files)).spec.environment.base_image == IMAGE
