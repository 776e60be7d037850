"""Libraries, small networks and READMEs that have no use for a card, though something there imports what can compute on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Tool\n\n" + "It works on what it is given and writes down what comes out of it. " * 5 + "\n"
NET = "import torch\ndef learn(net):\n    net.cuda()\n    torch.optim.Adam(net.parameters())\n    net(1).backward()\nif __name__ == '__main__':\n    learn(torch.nn.Linear(9, 9))\n"
PLAIN = "import numpy\n"


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


def library(readme: str, required: str = '"numpy"', plain: int = 8, **more: str) -> dict[str, str]:
    project = f'[project]\nname = "tool"\ndependencies = [{required}]\n'
    modules = {f"tool/part{number}.py": PLAIN for number in range(plain)}
    return {"README.md": readme, "pyproject.toml": project, "tool/train/learn.py": NET, **modules, **more}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (library(LONG), "cpu-only"),
        (library(LONG + "It supports local models (assuming you have a GPU).\n"), "cpu-only"),
        # A list of its own for the training changes nothing; one at the root does.
        ({**library(LONG), "tool/train/requirements.txt": "torch\n"}, "cpu-only"),
        ({**library(LONG), "requirements.txt": "torch\n"}, "training"),
        (library(LONG, required='"numpy", "torch"'), "training"),
        (library(LONG + "```\npip install torch\n```\n"), "training"),
        # Nor may a document start what computes on one.
        (library(LONG + "```\npython -m tool.train.learn\n```\n"), "training"),
        # What speaks of a card, or says next to nothing, is not silent.
        (library(LONG + "Trained on one GPU.\n"), "training"),
        (library("# Tool\n"), "training"),
        # Of what is made for a card many modules want one.
        (library(LONG, plain=1), "training"),
        ({key: text for key, text in library(LONG).items() if key != "pyproject.toml"}, "training"),
    ],
)
def test_what_a_project_requires_does_without(checkout: Build, files: Mapping[str, str], expected: str) -> None:
    assert workload(checkout, files) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", "NODE_CLASS_MAPPINGS = {}\n"),
        ("scripts/page.py", "from modules import script_callbacks\n"),
    ],
)
def test_what_extends_a_host_computes_on_its_card(checkout: Build, path: str, text: str) -> None:
    assert workload(checkout, {**library(LONG), path: text}) == "training"


@pytest.mark.parametrize(("plain", "expected"), [(8, "cpu-only"), (0, "interactive")])
def test_nothing_is_started_and_few_import_it(checkout: Build, plain: int, expected: str) -> None:
    modules = {f"tool/part{number}.py": PLAIN for number in range(plain)}
    text = "import tensorflow as tf\ntf.constant(1)\n"
    assert workload(checkout, {"README.md": LONG, "tool/text.py": text, **modules}) == expected


DENSE = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(9), tf.keras.layers.LSTM(9)])\nmodel.fit(rows)\n"
PLAYS = (
    "from stable_baselines3 import A2C\nimport world\nmodel = A2C({!r}, world.make())\nmodel.learn(total_timesteps=9)\n"
)


@pytest.mark.parametrize(
    ("program", "more", "expected"),
    [
        (DENSE, {}, "cpu-only"),
        (DENSE.replace("Dense", "Conv2D"), {}, "training"),
        (DENSE + "kind = 'RGNN'\n", {}, "training"),
        (DENSE + "vocab = 9\n", {}, "training"),
        (DENSE, {"other.py": "with tf.device('/gpu:0'): pass\n"}, "training"),
        (DENSE, {"other.py": "# On GPU this is faster.\n"}, "cpu-only"),
        (DENSE, {"README.md": LONG + "Takes an hour on a GPU.\n"}, "training"),
        (DENSE, {"README.md": "# Net\n"}, "training"),
        (DENSE, {"environment.yml": "dependencies:\n  - tensorflow=2.9=*cuda*\n"}, "training"),
        (PLAYS.format("MlpPolicy"), {"world.py": "images = []\n"}, "cpu-only"),
        (PLAYS.format("CnnPolicy"), {"world.py": "images = []\n"}, "training"),
        (PLAYS.format("MlpPolicy") + "DEVICE = 'cuda'\n", {"world.py": ""}, "training"),
    ],
)
def test_numbers_are_learned_on_cores(checkout: Build, program: str, more: Mapping[str, str], expected: str) -> None:
    assert workload(checkout, {"README.md": LONG, "train.py": program, **more}) == expected


CONV = "import tensorflow as tf\nmodel = tf.keras.Sequential([tf.keras.layers.Conv2D(9, 3)])\nmodel.fit(rows)\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The runtime for 1200 steps on CPU (3.5 GHz) is 4 minutes.", "cpu-only"),
        ("A small classifier that can be trained on a CPU.", "cpu-only"),
        ("It does not need a GPU to train.", "cpu-only"),
        ("No GPU required to look at the results.", "training"),
        ("It can be trained on a CPU, but that is slow.", "training"),
        ("Data loading runs on the CPU for training.", "training"),
        ("The model takes 2 hours on a CPU, and 5 minutes on a GPU.", "training"),
        ("The model is trained in an hour.", "training"),
    ],
)
def test_a_readme_tells_of_a_cpu_alone(checkout: Build, said: str, expected: str) -> None:
    assert workload(checkout, {"README.md": f"# Net\n{said}\n", "train.py": CONV}) == expected


def test_a_part_of_a_library_is_what_others_start(checkout: Build) -> None:
    part = DENSE.replace("model = ", "def learn(rows):\n    model = ").replace("\nmodel.fit", "\n    model.fit")
    beside = "from .learning import learn\n"
    assert workload(checkout, {"README.md": LONG, "learning.py": part, "__init__.py": beside}) == "training"


@pytest.mark.parametrize(
    ("program", "config", "expected"),
    [
        (True, "type: number", "cpu-only"),
        (False, "type: category", "cpu-only"),
        (True, "type: image", "training"),
        (False, "type: text", "training"),
        (True, "type: number\nbackend:\n  gpus: 2", "training"),
    ],
)
def test_ludwig_learns_columns_on_cores(checkout: Build, program: bool, config: str, expected: str) -> None:
    files = {
        "run.sh": "ludwig train --config net.yaml --dataset rows.csv\n",
        "net.yaml": f"input_features:\n  - name: a\n    {config}\n",
    }
    started = {"train.py": "from ludwig.api import LudwigModel\nLudwigModel('net.yaml').train(dataset='rows.csv')\n"}
    assert workload(checkout, {**files, **(started if program else {})}) == expected
