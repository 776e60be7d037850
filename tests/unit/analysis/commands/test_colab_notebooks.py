"""What notebooks ask Colab for, where all that lies here are notebooks that start somebody else's program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.notebooks import ON_COLAB, read_notebook
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
CLONES = "!git clone https://github.com/x/other\n!pip install diffusers==0.21.4\n"
STARTS = "%cd other\n!python main.py --prompt icecream\n"


def notebook(*cells: str, metadata: Mapping[str, object] | None = None) -> str:
    asked = {"accelerator": "GPU", "colab": {"gpuType": "T4"}} if metadata is None else metadata
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": asked}, indent=1)


def test_notebooks_that_start_a_cloned_program_on_colabs_gpu_need_that_card(checkout: Build) -> None:
    found = analyze(checkout({"demo.ipynb": notebook(CLONES, STARTS), "README.md": "# A demo\n"})).spec
    assert found.meta.workload_type is WorkloadType.INTERACTIVE
    assert (found.hardware.gpu_count, found.hardware.vram_required_gb) == (1, 16)


@pytest.mark.parametrize(
    "files",
    [
        {"demo.ipynb": notebook(CLONES, STARTS, metadata={})},
        {"demo.ipynb": notebook(CLONES, STARTS, metadata={"accelerator": "TPU"})},
        {"demo.ipynb": notebook("!pip install pandas\n", "import pandas\npandas.read_csv('x')\n")},
        {"demo.ipynb": notebook(CLONES)},
        {
            "demo.ipynb": notebook(CLONES, STARTS),
            "main.py": "import pandas\nif __name__ == '__main__':\n    print(1)\n",
        },
    ],
    ids=["nothing asked", "a TPU", "nothing cloned", "nothing started", "a program lies here"],
)
def test_other_notebooks_tell_of_no_gpu(checkout: Build, files: Mapping[str, str]) -> None:
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.CPU_ONLY


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"accelerator": "GPU", "colab": {"gpuType": "A100"}}, f"{ON_COLAB}A100"),
        ({"accelerator": "GPU", "colab": {"gpuType": "; rm"}}, ON_COLAB),
        ({"accelerator": "GPU", "colab": []}, ON_COLAB),
        ({"accelerator": ["GPU"]}, "x = 1"),
    ],
)
def test_the_last_line_says_what_colab_was_asked_for(metadata: Mapping[str, object], said: str) -> None:
    read = read_notebook(notebook("x = 1", metadata=metadata))
    assert not isinstance(read, str)
    text, lines = read
    assert text.split("\n")[-1] == said
    assert len(lines) == len(text.split("\n"))
