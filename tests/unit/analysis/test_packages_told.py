"""Where no list counts: what commands install is one, if it is enough, and sub-projects that the run takes nothing of say nothing."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nimport einops\nnet = torch.nn.Linear(2, 2).cuda()\nnet(x).sum().backward()\n"
OTHERS = {"side/record.py": "import pyaudio\n", "side/measure.py": "import calflops\n"}
INSTALL = "# Install\n```\npip install {}\n```\n# Train\n```\npython train.py\n```\n"
WHOLE = "torch torchvision transformers==4.33.2 timm sentencepiece"


def _requirements(checkout: Build, files: dict[str, str]) -> set[str]:
    return set(analyze(checkout(files)).spec.dependencies.requirements or ())


def test_commands_that_install_a_framework_and_more_are_the_list(checkout: Build) -> None:
    files = {"README.md": INSTALL.format(WHOLE), "train.py": TRAIN, **OTHERS}
    assert _requirements(checkout, files) == {*WHOLE.split(), "einops"}


@pytest.mark.parametrize("told", ["torch", "numpy scipy pandas tqdm requests", "torch torchvision tqdm numpy"])
def test_a_few_packages_are_no_list(checkout: Build, told: str) -> None:
    files = {"README.md": INSTALL.format(told), "train.py": TRAIN, **OTHERS}
    assert {"pyaudio", "calflops", "einops"} <= _requirements(checkout, files)


def test_a_collection_s_sub_project_speaks_for_what_takes_something_of_it(checkout: Build) -> None:
    project = '[project]\nname = "zoom"\ndependencies = ["torch==2.0.1", "xlsxwriter", "shortuuid"]\n'
    files = {
        "README.md": INSTALL.format(WHOLE),
        "train.py": TRAIN,
        "projects/zoom/pyproject.toml": project,
        "projects/zoom/zoom/run.py": "import torch\n",
    }
    assert "shortuuid" not in _requirements(checkout, files)
    files["train.py"] = f"import zoom\n{TRAIN}"
    assert "shortuuid" in _requirements(checkout, files)
