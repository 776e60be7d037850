"""A library to train with, of which nobody is told to start anything, is for training whatever its tools load."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROJECT = "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'halves'\ndependencies = ['torch']\n[project.scripts]\nkeep = 'halves.keep:main'\n"
README = "# Halves\nTrain large models: training in halves, for training on few cards.\n"
KEEP = "import torch\ndef main():\n    net = torch.load('a').cuda().eval()\n    with torch.no_grad():\n        net.generate(x)\nif __name__ == '__main__':\n    main()\n"
STEP = "import torch\ndef step(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"
TREE = {"pyproject.toml": PROJECT, "README.md": README, "halves/keep.py": KEEP, "halves/step.py": STEP}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "training"),
        ({"README.md": "# Halves\nInference of large models, inference on few cards. Trained weights.\n"}, "inference"),
        ({"README.md": README + "```\nkeep a.pt\n```\n"}, "inference"),
        ({"halves/step.py": "import torch\ndef half(x):\n    return x.half()\n"}, "inference"),
        ({"pyproject.toml": ""}, "inference"),
    ],
)
def test_library_to_train_with_is_for_training(checkout: Build, changed: dict[str, str], expected: str) -> None:
    assert analyze(checkout({**TREE, **changed})).spec.meta.workload_type.value == expected
