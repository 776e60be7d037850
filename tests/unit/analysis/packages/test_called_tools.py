"""Tools that are called beside the run: a cluster's command in the script that starts it, a server in the README."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

PROGRAM = "import torch\nfor x in data:\n    loss.backward()\nif __name__ == '__main__': pass\n"
SERVE = "```bash\ntorch-model-archiver --model-name m --handler {handler}\ntorchserve --start --model-store s --models m\n```\n"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            {
                "run.sh": "ray start --head --num-gpus 8\nray job submit -- python train.py --lr 1\n",
                "train.py": PROGRAM,
            },
            {"torch", "ray"},
        ),
        ({"README.md": SERVE.format(handler="image_classifier")}, {"torchserve", "torch-model-archiver", "torch"}),
        (
            {"README.md": SERVE.format(handler="vllm_handler")},
            {"torchserve", "torch-model-archiver", "torch", "vllm"},
        ),
    ],
)
def test_a_tool_that_is_called_is_installed(checkout: Build, files: dict[str, str], wanted: set[str]) -> None:
    assert wanted <= found(checkout(files))


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "One could serve it by torchserve, or start a cluster of ray.\n"},
        {
            "README.md": SERVE.format(handler="image_classifier"),
            "requirements.txt": "torch\n",
            "train.py": PROGRAM,
        },  # a list speaks
    ],
)
def test_what_is_only_spoken_of_or_left_out_of_a_list_is_not(checkout: Build, files: dict[str, str]) -> None:
    assert not found(checkout(files)) & {"torchserve", "ray"}
