"""Checkouts that list what computes on a GPU and start nothing with it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

METRIC = "import jax.numpy as jnp\ndef score(a, b):\n    return jnp.mean((a - b) ** 2)\n"
PARTS = {f"scores/part{number}.py": METRIC for number in range(30)}
LISTED = {**PARTS, "requirements.txt": "jax\nxarray\n", "README.md": "# Scores\n" + "How good a forecast was. " * 12}
LAYERS = "import torch\nfrom torch import nn\nclass Block(nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize(
    ("files", "needs_gpu"),
    [
        ({"scores/metric.py": METRIC}, False),
        # One remark on somebody's card is found in most.
        ({"scores/metric.py": METRIC, "scores/more.py": METRIC + "# as fast as gpu_metric\n"}, False),
        ({"scores/metric.py": METRIC, "scores/more.py": "DEVICE = 'cuda'\n", "scores/last.py": "DEVICE = 'cuda'\n"}, True),
        ({"scores/metric.py": METRIC, "README.md": "# Scores\nYou need a GPU for it.\n" + "How good a forecast was. " * 12}, True),
        ({"scores/metric.py": METRIC, "requirements.txt": "jax[cuda12]\n"}, True),
        # Layers alone are often all that is published, to be put on a card by whoever trains them.
        ({"net/block.py": LAYERS + "DEVICE = 'cuda'\n", "requirements.txt": "torch\n"}, True),
    ],
)  # fmt: skip
def test_what_starts_nothing_and_speaks_of_no_card_needs_none(
    checkout: Build, files: dict[str, str], *, needs_gpu: bool
) -> None:
    spec = analyze(checkout({**LISTED, **files})).spec
    assert spec.needs_gpu is needs_gpu


def test_a_program_that_trains_still_needs_one(checkout: Build) -> None:
    train = "import tensorflow as tf\nif __name__ == '__main__':\n    model = tf.keras.applications.ResNet50()\n    model.compile('adam', 'mse')\n    model.fit(images, labels, epochs=3)\n"
    files = {**LISTED, "scores/metric.py": METRIC, "train.py": train, "requirements.txt": "jax\ntensorflow\n"}
    assert analyze(checkout(files)).spec.needs_gpu


def test_of_a_few_programs_one_may_be_a_use_that_was_not_understood(checkout: Build) -> None:
    few = {path: text for path, text in LISTED.items() if path not in PARTS}
    assert analyze(checkout({**few, "scores/metric.py": METRIC})).spec.needs_gpu
