"""Programs that no document tells of, or that are told no device: what lies beside them decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
TRAIN = (
    "import torch\nnet = torch.nn.Linear(2, 2)\nloss = net(torch.ones(2)).sum()\nloss.backward()\n"
    "torch.optim.Adam(net.parameters()).step()\nif __name__ == '__main__':\n    pass\n"
)
OTHER = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n"


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "cpu-only"),
        ({"train.py": TRAIN.replace("(2, 2)", "(2, 2).to(where)")}, "training"),
        ({"train.py": "import stranger\n" + TRAIN}, "training"),  # may put all on a card that it is handed
        ({"train.py": "from parts import net\n" + TRAIN, "parts.py": OTHER}, "training"),
        ({"train.py": "from parts import net\n" + TRAIN, "parts.py": "def like(x, y): return x.to(y.device)\n"}, "cpu-only"),
        ({"README.md": LONG + "```\npython train.py\ntorchrun --nproc_per_node 4 other.py\n```\n"}, "training"),
    ],
)  # fmt: skip
def test_bare_pytorch_that_is_told_no_device(checkout: Build, change: Mapping[str, str], expected: str) -> None:
    files = {"README.md": LONG + "```\npython train.py\n```\n", "train.py": TRAIN, "other.py": OTHER}
    assert workload(checkout, {**files, **change}) == expected


def test_whether_a_tensor_is_on_a_card_may_be_asked(checkout: Build) -> None:
    text = "import torch, torchaudio\ndef change(x):\n    if x.is_cuda:\n        raise ValueError\n    return torchaudio.load(x)\n"
    files = {"requirements.txt": "torch\ntorchaudio\n", "tool/effects.py": text}
    assert workload(checkout, files) == "cpu-only"
    assert workload(checkout, {**files, "tool/more.py": "import torch\nx = torch.ones(2).cuda()\n"}) != "cpu-only"


FILTER = "from tensorflow.keras.models import load_model\nif __name__ == '__main__':\n    load_model('a').predict(x)\n"


@pytest.mark.parametrize(
    ("change", "is_cpu"),
    [
        ({}, True),
        ({"steps/s01.py": FILTER, "steps/s02.py": FILTER}, True),
        ({f"steps/{name}.py": FILTER + "    net.cuda()\n" for name in ("filter", "s01", "s02")}, False),
        ({"README.md": LONG + "```\npython steps/filter.py\n```\nA GPU makes it faster.\n"}, False),
        ({"README.md": LONG + "It wants a GPU.\n"}, False),
    ],
)
def test_one_program_of_many_that_no_document_starts(
    checkout: Build, change: Mapping[str, str], *, is_cpu: bool
) -> None:
    steps = {f"steps/s{number:02}.py": "import json\n" for number in range(18)}
    files = {"README.md": LONG, "requirements.txt": "tensorflow\n", "steps/filter.py": FILTER, **steps}
    assert (workload(checkout, {**files, **change}) == "cpu-only") is is_cpu


@pytest.mark.parametrize(("built", "is_cpu"), [("cmake --build .\n", True), ("make\n", False)])
def test_what_cmake_builds_without_a_card(checkout: Build, built: str, *, is_cpu: bool) -> None:
    lesson = "import jax, json\nif __name__ == '__main__':\n    jax.jit(model.apply)(x)\n"
    files = {
        "CMakeLists.txt": "project(tool CXX)\n",
        "README.md": f"{LONG}```\n{built}```\n",
        "python/setup.py": "from setuptools import setup\nsetup(name='tool', install_requires=['jax', 'numpy'])\n",
        "python/tool/plan.py": lesson,
        **{f"python/tool/part{number}.py": "import numpy\n" for number in range(6)},
    }
    assert (workload(checkout, files) == "cpu-only") is is_cpu


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("All computations are performed on the CPU. There is a GPU mode.", "cpu-only"),
        ("Some computations are performed on the CPU. There is a GPU mode.", "training"),
    ],
)
def test_a_readme_tells_of_all_computations(checkout: Build, said: str, expected: str) -> None:
    train = TRAIN.replace("(2, 2)", "(2, 2).to(where)")
    files = {"README.md": f"{LONG}{said}\n```\npython train.py\n```\n", "train.py": train}
    assert workload(checkout, files) == expected


@pytest.mark.parametrize(("said", "is_cpu"), [("**does not require a GPU**", True), ("**requires a GPU**", False)])
def test_a_readme_denies_that_one_is_needed(checkout: Build, said: str, *, is_cpu: bool) -> None:
    part = (
        "import tensorflow as tf\ndef net(path):\n    with tf.device('/GPU:0'):\n        return tf.keras.Sequential()\n"
    )
    files = {"README.md": f"{LONG}It {said}, but one makes it faster.\n", "tool/net.py": part}
    assert (workload(checkout, files) == "cpu-only") is is_cpu


def test_a_docstring_is_no_layer(checkout: Build) -> None:
    text = (
        'import tensorflow as tf\ndef weigh(x):\n    """Cosine-weighted attention."""\n    return x\n'
        "model = tf.keras.Sequential([tf.keras.layers.Dense(4)])\nmodel.fit(weigh(1), 2)\n"
    )  # fmt: skip
    files = {"README.md": LONG + "```\npython train.py\n```\n", "train.py": text}
    assert workload(checkout, files) == "cpu-only"
    assert workload(checkout, {**files, "train.py": text.replace("Dense", "MultiHeadAttention")}) == "training"


def test_a_projects_own_file_trains_by_spacy(checkout: Build) -> None:
    train = 'commands:\n  - name: train\n    script:\n      - "python -m spacy train a.cfg --gpu-id 0"\n'  # fmt: skip
    files = {
        "README.md": LONG + "You may want to [use a GPU](https://a.org/usage#gpu) with it.\n",
        "pyproject.toml": '[project]\nname = "tool"\ndependencies = ["spacy"]\n',
        "project.yml": train,
        **{f"tool/part{number}.py": "import spacy\n" for number in range(6)},
    }
    assert workload(checkout, files) == "cpu-only"
    assert workload(checkout, {**files, "README.md": files["README.md"] + "Train it on a GPU.\n"}) == "training"
