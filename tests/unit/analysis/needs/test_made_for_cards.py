"""Projects that compute on a card though nothing in their lists does: kernels, compilers of such, notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "tiles"\ndependencies = ["{0}"]\n'
PARTS = {f"tiles/part{number}.py": "import numpy\n" for number in range(6)}


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("readme", "is_cpu"),
    [
        ("# Tiles\n\nTiles is a framework for GPU-accelerated simulation.\n", False),
        ("# Tiles\n\nTemplates and\nCUDA C++ template abstractions for algebra.\n", False),
        ("# Tiles\n\nTiles counts.\n\n## GPU support\n\nGPU-accelerated counting is there as well.\n", True),
        ("# Tiles\n\nTiles counts, and supports GPU-accelerated counting.\n", True),
        ("# Tiles\n\nTiles is a toolkit for windows with GPU-accelerated rendering.\n", True),
        ("# Tiles\n\nA fast, GPU-accelerated terminal.\n", True),
        ("# Tiles\n\nUnlike GPU-accelerated frames, Tiles runs on cores.\n", True),
        ("# Tiles\n\nTiles reads traces of CUDA kernels.\n", True),
        ("# Tiles\n\n- [Other](https://a.org): GPU-accelerated tiles\n", True),
    ],
)
def test_what_a_readme_opens_with(checkout: Build, readme: str, *, is_cpu: bool) -> None:
    files = {"README.md": readme, "pyproject.toml": PROJECT.format("numpy"), **PARTS}
    assert (workload(checkout, files) == "cpu-only") is is_cpu


@pytest.mark.parametrize(("package", "is_cpu"), [("cuda-python", False), ("triton", False), ("numpy", True)])
def test_a_list_names_what_writes_kernels(checkout: Build, package: str, *, is_cpu: bool) -> None:
    files = {"README.md": "# Tiles\n", "pyproject.toml": PROJECT.format(package), **PARTS}
    assert (workload(checkout, files) == "cpu-only") is is_cpu


@pytest.mark.parametrize(("module", "is_cpu"), [("torch", False), ("numpy", True)])
def test_a_library_of_networks_shows_itself_on_a_card(checkout: Build, module: str, *, is_cpu: bool) -> None:
    shown = '# Tiles\n```python\nimport torch\nimport tiles\nx = torch.randn(2, device="cuda")\ntiles.gelu(x)\n```\n'
    parts = {f"tiles/part{number}.py": f"import {module}\n" for number in range(6)}
    project = PROJECT.format("packaging") + '[project.optional-dependencies]\ndev = ["torch"]\n'
    assert (workload(checkout, {"README.md": shown, "pyproject.toml": project, **parts}) == "cpu-only") is is_cpu


def test_kernels_are_called_as_a_model_at_work_does(checkout: Build) -> None:
    setup = "from torch.utils.cpp_extension import CUDAExtension\nfrom setuptools import setup\nsetup(name='tiles', install_requires=['torch'], ext_modules=[CUDAExtension('tiles_cuda', ['a.cu'])])\n"
    part = "import torch, tiles_cuda\ndef gelu(x):\n    return tiles_cuda.gelu(x)\n"
    assert workload(checkout, {"README.md": "# Tiles\n", "setup.py": setup, "tiles/ops.py": part}) == "inference"


@pytest.mark.parametrize(
    ("installed", "is_cpu"), [("packages = []\npy-modules = []\n", False), ("packages = ['lib']\n", True)]
)
def test_notebooks_with_a_list_for_their_desk_are_no_library(checkout: Build, installed: str, *, is_cpu: bool) -> None:
    cell = '{"cell_type": "code", "source": ["import unsloth\\n", "from trl import SFTTrainer\\n", "SFTTrainer(model).train()"], "outputs": []}'
    project = f'[project]\nname = "lessons"\ndependencies = ["ipykernel"]\n[tool.setuptools]\n{installed}'
    files = {f"nb/lesson{number}.ipynb": f'{{"cells": [{cell}]}}' for number in range(4)}
    assert (workload(checkout, {**files, "pyproject.toml": project}) == "cpu-only") is is_cpu
