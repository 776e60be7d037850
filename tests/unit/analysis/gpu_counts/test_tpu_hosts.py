"""Trainings with JAX that a README tells of on a TPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
JAX = "import jax\nfrom flax.training import train_state\nstep = jax.pmap(update)\ngrads = jax.value_and_grad(loss)(params)\nstate.apply_gradients(grads=grads)\n"
TORCH = "import torch\nmodel = torch.nn.Linear(3, 3).cuda()\nmodel(torch.ones(3).cuda()).sum().backward()\n"
START = "# Moss\n```\npython train.py{}\n```\n"


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


@pytest.mark.parametrize(
    ("program", "said", "expected"),
    [
        (JAX, "We trained it on a TPU v3-8.", "8"),
        (JAX, "Hardware | Training time\n--- | ---\nTPU v2-32 | 4h", "8"),
        (JAX, "A TPU will do, and weights are in `moss-v3-8`.", None),
        (JAX, "TPUs are supported.\n\nReleases: v2-16, v2-32.", None),
        # One device is all that such a program takes.
        (JAX.replace("jax.pmap", "jax.jit"), "We trained it on a TPU v3-8.", None),
        (JAX, "See moss v3-8 for what came before.", None),
        (TORCH, "We compare with a TPU v3-8.", None),
    ],
)
def test_a_machine_of_it_has_eight_devices(checkout: Build, program: str, said: str, expected: str | None) -> None:
    assert counted(checkout({"README.md": START.format("") + said + "\n", "train.py": program})) == expected


def test_what_the_command_says_stands(checkout: Build) -> None:
    readme = START.format(" --gpus 0,1") + "Or a TPU v3-8.\n"
    assert counted(checkout({"README.md": readme, "train.py": JAX})) == "2"
