"""Libraries on TensorFlow or JAX of which nothing speaks of a card, and programs that are there to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
LESSON = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Conv2D(9, 3)])\nmodel.fit(rows)\n"
PARTS = {f"tool/part{number:02}.py": "import tensorflow as tf\nx = tf.constant(1)\n" for number in range(24)}
PROJECT = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "tool"\ndependencies = ["tensorflow"]\n'
LIBRARY = {"README.md": LONG, "pyproject.toml": PROJECT, "examples/lesson.py": LESSON, **PARTS}


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "cpu-only"),
        # Somebody speaks of a card, or a document starts the lesson.
        ({"README.md": LONG + "It is made for GPUs.\n"}, "training"),
        ({"README.md": LONG + "```\npython examples/lesson.py\n```\n"}, "training"),
        ({"tool/part00.py": "import tensorflow as tf\ntf.device('/device:GPU:0')\n"}, "training"),
        # PyTorch's programs say where they compute; what is no lesson is the work itself; what is small is a program with its parts.
        ({"tool/part00.py": "import torch\nx = torch.ones(2)\n"}, "training"),
        ({"examples/lesson.py": "", "train.py": LESSON}, "training"),
        (dict.fromkeys(list(PARTS)[:10], ""), "training"),
        ({"pyproject.toml": "[tool.black]\n", "requirements.txt": "tensorflow\n"}, "training"),
    ],
)
def test_a_library_is_taken_up_without_a_card(checkout: Build, more: Mapping[str, str], expected: str) -> None:
    assert workload(checkout, {name: text for name, text in {**LIBRARY, **more}.items() if text}) == expected


LEARNS = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\nif __name__ == '__main__':\n    pass\n"


@pytest.mark.parametrize(
    ("said", "readme", "expected"),
    [
        ("# A licence\n\n'''Pseudocode of what the paper does.'''\n", LONG, "cpu-only"),
        ("'''Trains a network, after the pseudocode of a paper.'''\n", LONG, "training"),
        ("'''Pseudocode of a paper.'''\n", LONG + "```\npython search.py\n```\n", "training"),
    ],
)
def test_pseudocode_is_there_to_be_read(checkout: Build, said: str, readme: str, expected: str) -> None:
    assert workload(checkout, {"README.md": readme, "search.py": said + LEARNS}) == expected


MANY = {f"tool/more{number:02}.py": "import tensorflow as tf\nx = tf.constant(1)\n" for number in range(40)}


@pytest.mark.parametrize(
    "more",
    [
        # One of many programs may name a card, but not the lesson itself, nor may it spread its work.
        {"examples/lesson.py": LESSON + "tf.config.list_physical_devices('GPU')\n"},
        {"examples/lesson.py": LESSON + "spread = tf.distribute.MirroredStrategy()\n"},
        # A build for cards, and networks that nobody trains or runs on cores.
        {"pyproject.toml": PROJECT.replace('"tensorflow"', '"jax[cuda12]"')},
        {"pyproject.toml": PROJECT.replace('"tensorflow"', '"tensorflow-gpu"')},
        {"examples/lesson.py": "", "examples/train_diffusion.py": LESSON},
        {"examples/lesson.py": LESSON + "teacher = Teacher.from_preset('wise-7b')\n"},
    ],
)
def test_a_lesson_that_has_a_use_for_a_card_is_given_one(checkout: Build, more: Mapping[str, str]) -> None:
    tree = {name: text for name, text in {**LIBRARY, **MANY, **more}.items() if text}
    assert workload(checkout, tree) == "training"


@pytest.mark.parametrize(
    "said",
    [
        '"""Pseudocode to code translation with a network."""\n',
        '"""Pseudo-code generation model."""\n',
        '"""Pseudocode -> Python."""\n',
    ],
)
def test_a_program_that_works_on_pseudocode_is_none(checkout: Build, said: str) -> None:
    assert workload(checkout, {"README.md": LONG, "train.py": said + LEARNS}) == "training"


def test_what_can_be_started_goes_before_pseudocode(checkout: Build) -> None:
    shown = '"""Pseudocode description of a paper."""\n' + LEARNS
    assert workload(checkout, {"README.md": LONG, "algorithm.py": shown, "tiny.py": LEARNS}) == "training"
