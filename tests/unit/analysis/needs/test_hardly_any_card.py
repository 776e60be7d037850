"""Checkouts of many programs of which hardly any names a card."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
LESSON = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Conv2D(9, 3)])\nmodel.fit(rows)\n"
PARTS = {f"tool/part{number:02}.py": "import tensorflow as tf\nx = tf.constant(1)\n" for number in range(24)}
PLAIN = {f"tool/plain{number:02}.py": "import json\n" for number in range(60)}
ON_A_CARD = "import tensorflow as tf\ntf.device('/device:GPU:0')\n"
PROJECT = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "tool"\ndependencies = ["tensorflow"]\n'
LIBRARY = {"README.md": LONG, "pyproject.toml": PROJECT, "examples/lesson.py": LESSON, **PARTS}
METRIC = "import jax.numpy as jnp\ndef score(a, b):\n    return jnp.mean((a - b) ** 2)\n"


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout({name: text for name, text in files.items() if text})).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "cpu-only"),
        # A remark about somebody else's machine is found in any tree, in PyTorch's words too; a README speaks of what one may have.
        ({"tool/part00.py": ON_A_CARD}, "cpu-only"),
        ({"tool/part00.py": "import torch\nx = torch.ones(2)\n"}, "cpu-only"),
        ({"README.md": LONG + "Versions are built for CPU and GPU.\n"}, "cpu-only"),
        ({"README.md": LONG + "It does not require a GPU.\n"}, "cpu-only"),
        ({"pyproject.toml": "[tool.black]\n", "requirements.txt": "tensorflow\n"}, "cpu-only"),
        # More than a remark; a README that asks for one, by its kind or its memory too; a list that asks for a build for cards.
        ({"tool/part00.py": ON_A_CARD, "tool/part01.py": ON_A_CARD}, "training"),
        ({"README.md": LONG + "It requires a modern GPU.\n"}, "training"),
        ({"README.md": LONG + "We ran it on an A100 in a night.\n"}, "training"),
        ({"README.md": LONG + "It takes 20 GB of GPU memory.\n"}, "training"),
        ({"pyproject.toml": PROJECT.replace('"tensorflow"', '"jax[cuda12]"')}, "training"),
        ({"pyproject.toml": PROJECT.replace('"tensorflow"', '"tensorflow-gpu"')}, "training"),
        # A document that starts the training; a program at the root, which is what all is about; too few to tell.
        ({"README.md": LONG + "```\npython examples/lesson.py\n```\n"}, "training"),
        ({"examples/lesson.py": "", "train.py": LESSON}, "training"),
        (dict.fromkeys(list(PARTS)[:18], ""), "training"),
        # Models of a size that nobody runs on cores.
        ({f"tool/large{n}.py": "net = Teacher.from_pretrained('org/net-7B')\n" for n in range(4)}, "training"),
    ],
)
def test_a_library_is_taken_up_without_a_card(checkout: Build, more: Mapping[str, str], expected: str) -> None:
    assert workload(checkout, {**LIBRARY, **more}) == expected


@pytest.mark.parametrize(
    ("naming", "plain", "expected"),
    [(2, 0, "training"), (4, 60, "cpu-only"), (4, 30, "training"), (14, 60, "training")],
)
def test_where_few_use_what_computes_on_one_more_may_name_it(
    checkout: Build, naming: int, plain: int, expected: str
) -> None:
    parts = dict(list(PARTS.items())[:12]) | {f"tool/part{number:02}.py": ON_A_CARD for number in range(naming)}
    files = {"README.md": LONG, "pyproject.toml": PROJECT, "examples/lesson.py": LESSON, **parts}
    assert workload(checkout, {**files, **dict(list(PLAIN.items())[:plain])}) == expected


APPLIES = "import tensorflow as tf\nif __name__ == '__main__':\n    tf.keras.models.load_model('a').predict(rows)\n"


@pytest.mark.parametrize(
    ("program", "parts", "more", "expected"),
    [
        # One that only runs a model counts less than one that trains.
        (APPLIES, 14, "", "cpu-only"),
        (APPLIES, 24, "", "cpu-only"),
        (APPLIES, 24, "GPUs make it faster.\n", "inference"),
        (LESSON, 8, "", "cpu-only"),
        (LESSON, 14, "", "training"),
    ],
)
def test_a_command_that_is_told_speaks_for_one(
    checkout: Build, program: str, parts: int, more: str, expected: str
) -> None:
    files = {
        "README.md": f"{LONG}{more}```\npython tools/work.py\n```\n",
        "requirements.txt": "tensorflow\n",
        "tools/work.py": program,
        **dict(list(PARTS.items())[:parts]),
        **PLAIN,
    }
    assert workload(checkout, files) == expected


def test_what_a_launcher_starts_is_made_for_cards(checkout: Build) -> None:
    files = {"README.md": f"{LONG}```\ntorchrun --nproc_per_node 4 tools/work.py\n```\n", "requirements.txt": "torch\n"}
    learns = "import torch\nif __name__ == '__main__':\n    loss(torch.ones(2)).backward()\n    torch.optim.Adam(net.parameters()).step()\n"
    assert workload(checkout, {**files, "tools/work.py": learns, **PLAIN}) == "training"


def test_parts_alone_need_none_until_a_program_at_the_root_trains(checkout: Build) -> None:
    parts = {f"scores/part{number}.py": METRIC for number in range(30)}
    files = {**parts, "requirements.txt": "jax\ntensorflow\n", "README.md": LONG}
    assert workload(checkout, files) == "cpu-only"
    train = "import tensorflow as tf\nif __name__ == '__main__':\n    model = tf.keras.applications.ResNet50()\n    model.compile('adam', 'mse')\n    model.fit(images, labels, epochs=3)\n"
    assert workload(checkout, {**files, "train.py": train}) == "training"


def test_it_says_how_many_programs_it_looked_at(checkout: Build) -> None:
    (found,) = (each for each in analyze(checkout(LIBRARY)).findings if each.field == "workload")
    assert found.why == "of 25 programs hardly any names a card, and nothing is told to be started"
