"""Tools that add a package to a project are told it as pip is."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nnet = torch.nn.Linear(8, 8).cuda()\nnet(x).sum().backward()\n"


@pytest.mark.parametrize(
    "command",
    [
        "pip install einops",
        "pip install einops;",
        "python -m pip install -U einops",
        "uv pip install einops",
        "uv add einops",
        "poetry add einops",
        "pdm add einops",
        "rye add einops",
        "pipenv install einops",
        "pixi add einops",
        "pixi add --pypi einops",
        "micromamba install -c conda-forge einops",
        "conda create -n lab python=3.11 einops -c conda-forge",
    ],
)
def test_what_a_document_has_added_is_installed(checkout: Build, command: str) -> None:
    readme = f"# N\n\n```bash\n{command}\n```\n\n```bash\npython train.py\n```\n"
    requirements = analyze(checkout({"README.md": readme, "train.py": TRAIN})).proposed.dependencies.requirements
    assert [item.partition(">")[0] for item in requirements if item.startswith("einops")] == ["einops"]
