"""Extensions that PyTorch compiles while a program runs need ninja, which PyTorch does not bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]

TRAIN = "import torch\nimport ops\n\nif __name__ == '__main__':\n    loss.backward()\n"


@pytest.mark.parametrize(
    ("ops", "is_needed"),
    [
        ("import torch.utils.cpp_extension\ntorch.utils.cpp_extension.load(name='o', sources=['o.cu'])\n", True),
        ("from torch.utils.cpp_extension import load\nplugin = load(name='o', sources=['o.cpp', 'o.cu'])\n", True),
        ("from torch.utils import cpp_extension\ncpp_extension.load_inline('o', cpp_sources='')\n", True),
        ("from torch.utils.cpp_extension import CUDA_HOME\nimport torch\nstate = torch.load('x')\n", False),
        ("import json\nstate = json.load(open('x'))\n", False),
    ],
)
def test_ninja_is_installed_for_what_is_compiled_at_run_time(checkout: Build, ops: str, is_needed: bool) -> None:
    spec = analyze(checkout({"train.py": TRAIN, "ops.py": ops, "requirements.txt": "torch\n"})).spec
    assert ("ninja" in spec.dependencies.requirements) is is_needed


def test_ninja_on_a_list_is_not_added_again(checkout: Build) -> None:
    ops = "import torch.utils.cpp_extension\ntorch.utils.cpp_extension.load(name='o', sources=['o.cu'])\n"
    spec = analyze(checkout({"train.py": TRAIN, "ops.py": ops, "requirements.txt": "torch\nninja==1.11.1\n"})).spec
    assert spec.dependencies.requirements == ("torch", "ninja==1.11.1")


def test_ninja_of_a_conda_environment_comes_from_pip_in_any_version(checkout: Build) -> None:
    environment = "dependencies:\n- pytorch=2.4.0\n- ninja=1.11.0\n- cmake\n"
    spec = analyze(checkout({"train.py": "import torch\nloss.backward()\n", "environment.yml": environment})).spec
    assert spec.dependencies.requirements == ("torch==2.4.0", "ninja")


def test_a_loop_that_only_clears_gradients_trains(checkout: Build) -> None:
    """The step itself lies behind a name that only the configuration tells."""
    files = {
        "train.py": "from loop import fit_all\n\nif __name__ == '__main__':\n    fit_all()\n",
        "loop.py": "import torch\n\ndef fit_all(phase):\n    phase.opt.zero_grad(set_to_none=True)\n    phase.loss.accumulate(device='cuda')\n    phase.opt.step()\n",
        "requirements.txt": "torch\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type.value == "training"
