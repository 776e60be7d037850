"""Rules that look at the line of a call find it in a notebook, too: its lines in the file are not those of its code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.python.code import read_python

Build = Callable[[Mapping[str, str]], Checkout]
PROSE = ["# A\n"] * 60
KERAS = (
    "import tensorflow as tf\nfrom tensorflow import keras\n"
    "keras.mixed_precision.set_global_policy('mixed_float16')\n"
    "data = keras.utils.image_dataset_from_directory('d', image_size=(224, 224))\n"
    "m = keras.applications.ResNet50(weights=None)\nm.compile('adam', 'mse')\nm.fit(data)\n"
)
COPY = (
    "import diffusers, torch\nunet = UNet.from_pretrained(args.model, subfolder='unet')\nnet = Branch.from_unet(unet)\n"
    "optimizer = AdamW(net.parameters(), lr=1)\nloss.backward()\noptimizer.step()\n"
)
DRAWS = (
    "import torch\nfrom accelerate import Accelerator\nfrom diffusers import StableDiffusionPipeline\naccelerator = Accelerator()\n"
    "print(accelerator.mixed_precision)\npipe = StableDiffusionPipeline.from_pretrained('a/b', torch_dtype=torch.float16)\nloss.backward()\n"
)


def notebook(code: str, *, indent: int | None, prose: Sequence[str] = PROSE) -> str:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": list(prose)},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": code.splitlines(keepends=True)},
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


@pytest.mark.parametrize(
    ("code", "field", "value"),
    [
        (KERAS, "training.precision", "fp16"),
        (KERAS, "training.batch_size", "32"),
    ],
)
def test_a_line_is_found_below_prose(checkout: Build, code: str, field: str, value: str) -> None:
    found = analyze(checkout({"train.ipynb": notebook(code, indent=1)})).findings
    assert value_of_best(found, field) == value


@pytest.mark.parametrize("code", [KERAS, COPY, DRAWS])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_on_one_line_is_read_as_far_as_it_tells(checkout: Build, code: str, indent: int | None) -> None:
    found = analyze(checkout({"train.ipynb": notebook(code, indent=indent)})).findings
    assert value_of_best(found, "workload") == "training"


def test_lines_of_the_text_and_of_the_file() -> None:
    plain, mapped = read_python("a()\nb()\n"), read_python("a()\nb()\nc()\nd()\n", (10, 12, 14, 14))
    assert [plain.line_of_text(line) for line in (1, 2, 0)] == [1, 2, None]
    assert [mapped.line_of_text(line) for line in (10, 12, 14, 11, 1)] == [1, 2, None, None, None]
