"""Packages that a library loads by itself for what the run asks of it: Keras' backend, PyAV, Transformer Engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages

Build = Callable[[Mapping[str, str]], Checkout]

MEGATRON = "import torch\nfrom megatron.core import mpu\nfrom megatron.training import pretrain\nif __name__ == '__main__':\n    pretrain()\n"
START = "torchrun --nproc_per_node 8 train.py --tensor-model-parallel-size 2"


def found(tree: Checkout) -> set[str]:
    return {f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            {"main.py": "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nfrom keras_hub.models import Net\n"},
            {"keras", "jax"},
        ),
        (
            {"main.py": "import os\nos.environ.setdefault('KERAS_BACKEND', 'torch')\nimport keras\n"},
            {"keras", "torch"},
        ),
        ({"main.py": "from torchvision.io import read_video\nread_video('x')\n"}, {"torchvision", "av"}),
        (
            {
                "main.py": "import torchvision\nclass Own(torchvision.datasets.kinetics.Kinetics):\n    pass\nif __name__ == '__main__': pass\n"
            },
            {"av"},
        ),
        ({"train.py": MEGATRON, "run.sh": f"{START}\n"}, {"megatron-core", "transformer-engine"}),
    ],
)
def test_what_a_library_loads_is_installed(checkout: Build, files: dict[str, str], wanted: set[str]) -> None:
    assert wanted <= found(checkout(files))


@pytest.mark.parametrize(
    ("files", "unwanted"),
    [
        ({"main.py": "from torchvision.io import read_image\nread_image('x')\n"}, "av"),
        ({"main.py": "import torchvision\n\ndef read_video(path):\n    return path\n"}, "av"),
        ({"train.py": MEGATRON, "run.sh": f"{START} --transformer-impl local\n"}, "transformer-engine"),
        ({"train.py": "import torch\nloss.backward()\n", "run.sh": f"{START}\n"}, "transformer-engine"),
    ],
)
def test_what_it_does_not_load_is_not(checkout: Build, files: dict[str, str], unwanted: str) -> None:
    assert unwanted not in found(checkout(files))
