"""Names that newer releases of a library have no longer are found however a program takes them."""

from __future__ import annotations

import re

import pytest

from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.gone_names import gone_names
from gpu_lol_action.domain.tables import table_rows
from tests.unit.analysis.conftest import Build


def _gone(checkout: Build, text: str, path: str = "train.py") -> list[tuple[str, int, str]]:
    source = checkout({path: text}).find(path)
    assert source is not None
    return [(each.name, each.line, ".".join(map(str, each.until))) for each in gone_names(source)]


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("from diffusers.utils import logging, randn_tensor\n", "diffusers.utils.randn_tensor", 1),
        ("import torch\nfrom diffusers.utils import (\n    logging,\n    randn_tensor,\n)\n", "diffusers.utils.randn_tensor", 2),
        ("from diffusers.models.unet_2d_condition import UNet2DConditionModel\n", "diffusers.models.unet_2d_condition", 1),
        ("import diffusers.models.unet_2d_condition as unet\n", "diffusers.models.unet_2d_condition", 1),
        ("import numpy as np\n\nx = np.in1d(a, b)\n", "numpy.in1d", 3),
        ("import numpy\nx = numpy.trapz(y)\n", "numpy.trapz", 2),
        ("import matplotlib.pyplot as plt\nc = plt.cm.get_cmap('jet')\n", "matplotlib.pyplot.cm.get_cmap", 2),
        ("import matplotlib\nc = matplotlib.cm.get_cmap('jet')\n", "matplotlib.cm.get_cmap", 2),
        ("from matplotlib import cm\nc = cm.get_cmap('jet')\n", "matplotlib.cm.get_cmap", 2),
        ("from matplotlib import cm as maps\nc = maps.get_cmap('jet')\n", "matplotlib.cm.get_cmap", 2),
        ("from PIL import Image\nx.resize((2, 2), Image.LINEAR)\n", "PIL.Image.LINEAR", 2),
        ("import jax\ny = jax.tree_map(f, x)\n", "jax.tree_map", 2),
        ("def f(x):\n    import numpy as np\n    return np.in1d(x, 1)\n", "numpy.in1d", 3),
        ("import numpy as np\n# np.in1d\nx = np.in1d(a, b)\n", "numpy.in1d", 3),
    ],
)  # fmt: skip
def test_a_name_is_found_however_it_is_taken(checkout: Build, text: str, name: str, line: int) -> None:
    assert [(found, place) for found, place, _ in _gone(checkout, text)] == [(name, line)]


@pytest.mark.parametrize(
    "text",
    [
        "from diffusers.utils.torch_utils import randn_tensor\n",
        "try:\n    from diffusers.utils import randn_tensor\nexcept ImportError:\n    from diffusers.utils.torch_utils import randn_tensor\n",
        "import numpy as np\nx = np.in1d_of(a)\n",
        "import numpy as np\nx = self.np.in1d(a)\n",
        "import mine as np\nx = np.in1d(a)\n",
        "np = load()\nx = np.in1d(a)\n",
        "import numpy as np\ny = np.in1d(a, b) if hasattr(np, 'in1d') else np.isin(a, b)\n",
        "import numpy as np\ntry:\n    y = np.trapz(a)\nexcept AttributeError:\n    y = np.trapezoid(a)\n",
        "import numpy as np\n# y = np.trapz(a)\n",
        "import jax\ny = jax.tree.map(f, x)\ny = jax.tree_util.tree_map(f, x)\n",
        "from PIL import Image\nx.resize((2, 2), Image.BILINEAR)\n",
    ],
)
def test_what_is_there_or_guarded_or_of_another_library_is_not(checkout: Build, text: str) -> None:
    assert _gone(checkout, text) == []


def test_a_notebook_says_where_in_its_file(checkout: Build) -> None:
    text = '{"cells": [{"cell_type": "code", "source": ["import numpy as np\\n", "x = np.in1d(a, b)\\n"]}],\n "metadata": {}, "nbformat": 4}\n'
    assert [name for name, *_ in _gone(checkout, text, "train.ipynb")] == ["numpy.in1d"]


def test_each_row_names_the_package_that_brings_its_module_and_a_release() -> None:
    rows = table_rows("gone_names.csv")
    assert [row["name"] for row in rows] == sorted({row["name"] for row in rows})
    for row in rows:
        assert re.fullmatch(r"\d+\.\d+(\.\d+)?", row["gone_in"]), row
        assert package_name(package_of(row["name"]) or "") == row["package"], row
        assert row["name"].count(".") >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import numpy as np\nx = np.percentile(a, 5, interpolation='nearest')\n", "percentile(interpolation=)"),
        ("import gradio as gr\ni = gr.Image(type='pil', tool='sketch')\n", "Image(tool=)"),
        ("from gradio import Image\ni = Image(\n    tool='sketch',\n)\n", "Image(tool=)"),
        ("import albumentations as A\nt = A.Resize(2, 2, always_apply=True)\n", "Resize(always_apply=)"),
        ("from accelerate import Accelerator\na = Accelerator(mixed_precision='fp16', logging_dir=path(1))\n", "Accelerator(logging_dir=)"),
    ],
)  # fmt: skip
def test_an_argument_that_a_call_gives_is_found(checkout: Build, text: str, said: str) -> None:
    assert [(name, line) for name, line, _ in _gone(checkout, text)] == [(said, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "import gradio as gr\ni = gr.Image(type='pil')\n",
        "import gradio as gr\nfrom mine import Image\ni = Image(tool='sketch')\n",
        "import gradio as gr\ni = mine.Image(tool='sketch')\n",
        "import numpy as np\nx = np.percentile(a, 5, method='nearest')\n",
        "class Image:\n    pass\ni = Image(tool='sketch')\n",
    ],
)
def test_an_argument_of_another_call_is_none(checkout: Build, text: str) -> None:
    assert _gone(checkout, text) == []


def test_what_a_star_brings_is_called_by_its_usual_name(checkout: Build) -> None:
    assert [name for name, *_ in _gone(checkout, "from tools import *\nx = np.zeros(3, dtype=np.int)\n")] == [
        "numpy.int"
    ]


def test_each_argument_names_the_package_that_brings_its_call_and_a_release() -> None:
    rows = table_rows("gone_arguments.csv")
    keys = [(row["name"], row["argument"]) for row in rows]
    assert keys == sorted(set(keys))
    for row in rows:
        assert re.fullmatch(r"\d+\.\d+(\.\d+)?", row["gone_in"]), row
        assert package_name(package_of(row["name"]) or "") == row["package"], row
        assert row["argument"].isidentifier()
