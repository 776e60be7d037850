"""A root README that opens with the promise that no GPU is needed, against a training that only a sub-folder tells of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    net = torch.nn.Linear(9, 9).cuda()\n    torch.optim.Adam(net.parameters())\n    net(1).backward()\n"
TOLD = "# Training\n```\npython train.py\n```\n"
OPENING = "# App\n\n{}\n\n## Download\nTake the installer.\n"
PROMISE = "No API calls or GPUs required - you can just download the application."


def workload(checkout: Build, readme: str, files: Mapping[str, str]) -> str:
    return analyze(checkout({"README.md": readme, **files})).spec.meta.workload_type.value


BESIDE = {"app-training/README.md": TOLD, "app-training/train.py": TRAIN, "app-training/requirements.txt": "torch\n"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (PROMISE, "cpu-only"),
        ("A GPU is not needed.", "cpu-only"),
        ("No dedicated GPU is necessary!", "cpu-only"),
        ("Runs everywhere.", "training"),
        ("Try the demo in Colab (no GPU required).", "training"),
        ("No GPU is required, but it is slow without.", "training"),
        ("A GPU is required.", "training"),
        (f"Trained in app-training/ on 8 cards. {PROMISE}", "training"),
    ],
)
def test_the_opening_outweighs_a_folder_that_it_never_names(checkout: Build, said: str, expected: str) -> None:
    assert workload(checkout, OPENING.format(said), BESIDE) == expected


def test_what_the_root_tells_of_or_what_stands_further_down_does_not(checkout: Build) -> None:
    own = {"train.py": TRAIN, "requirements.txt": "torch\n"}
    assert workload(checkout, OPENING.format(PROMISE) + TOLD, own) == "training"
    assert workload(checkout, OPENING.format("Fast.") + PROMISE, BESIDE) == "training"
