"""Programs of TensorFlow 1 get TensorFlow 1, whatever their lists leave out."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.packages.tensorflow_one import REQUIREMENT
from tests.unit.analysis.conftest import Build

README = "```\npython train.py\n```\n"
GRAPH = "x = tf.placeholder(tf.float32)\nwith tf.Session() as session:\n    session.run(tf.train.AdamOptimizer(1e-3).minimize(x))\n"
TF = "import tensorflow as tf\n"
OPTIMIZES = "optimizer.minimize(loss)\n"


def wanted(tree: Checkout) -> list[str]:
    found = [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]
    return [value for value in found if value.startswith("tensorflow")]


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TF + GRAPH},
        {"train.py": TF + GRAPH, "requirements.txt": "tensorflow\nnumpy\n"},
        {"train.py": TF + GRAPH, "requirements.txt": "tensorflow-gpu\n"},
        {"train.py": TF + "cell = tf.contrib.rnn.GRUCell(2)\n" + OPTIMIZES},
        {"train.py": TF + "from tensorflow.contrib.rnn import GRUCell\n" + OPTIMIZES},
        {"train.py": TF + "import net\n" + OPTIMIZES, "net.py": TF + GRAPH},
    ],
)
def test_what_only_tensorflow_1_knows_asks_for_it(checkout: Build, files: dict[str, str]) -> None:
    tree = checkout({"README.md": README, **files})
    assert wanted(tree) == [REQUIREMENT]
    spec = analyze(tree).spec
    assert spec.environment.base_image == "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"
    assert not [each for each in spec.dependencies.requirements if each.startswith("tensorflow")]  # the image's own


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"train.py": "import tensorflow.compat.v1 as tf\n" + GRAPH}, "tensorflow"),
        ({"train.py": TF + "tf.compat.v1.disable_eager_execution()\n" + GRAPH}, "tensorflow"),
        ({"train.py": TF + "if tf.__version__ < '2':\n    s = tf.Session()\n    p = tf.placeholder(1)\n" + OPTIMIZES}, "tensorflow"),
        ({"train.py": TF + "tf.set_random_seed(1)\n" + OPTIMIZES}, "tensorflow"),  # one old word
        ({"train.py": TF + "try:\n    from tensorflow.contrib import rnn\nexcept ImportError:\n    rnn = None\n" + OPTIMIZES}, "tensorflow"),
        ({"train.py": TF + GRAPH, "requirements.txt": "tensorflow==2.3.0\n"}, "tensorflow==2.3.0"),
        ({"train.py": TF + OPTIMIZES, "old/graph.py": TF + GRAPH}, "tensorflow"),  # which the run does not take
    ],
)  # fmt: skip
def test_what_runs_on_both_or_is_pinned_stays(checkout: Build, files: dict[str, str], kept: str) -> None:
    assert wanted(checkout({"README.md": README, **files})) == [kept]


def test_an_image_with_tensorflow_1_keeps_its_own(checkout: Build) -> None:
    docker = "FROM tensorflow/tensorflow:1.12.0-gpu-py3\nRUN pip install -r requirements.txt\n"
    files = {
        "train.py": TF + GRAPH,
        "README.md": README,
        "Dockerfile": docker,
        "requirements.txt": "tensorflow\nfire\n",
    }
    spec = analyze(checkout(files)).spec
    assert spec.environment.base_image == "tensorflow/tensorflow:1.12.0-gpu-py3"
    assert spec.dependencies.requirements == ("fire",)


def test_one_of_nvidia_s_of_before_2020_holds_it_too(checkout: Build) -> None:
    docker = "FROM nvcr.io/nvidia/tensorflow:19.03-py3\nRUN pip install -r requirements.txt\n"
    files = {"train.py": TF + GRAPH, "README.md": README, "Dockerfile": docker, "requirements.txt": "fire\n"}
    assert analyze(checkout(files)).spec.dependencies.requirements == ("fire",)


@pytest.mark.parametrize(
    ("listed", "installed"), [("keras", "keras<2.4"), ("keras==2.1.3", "keras==2.1.3"), ("keras-rl", "keras-rl")]
)
def test_a_keras_beside_it_is_of_its_day(checkout: Build, listed: str, installed: str) -> None:
    files = {"train.py": TF + GRAPH, "README.md": README, "requirements.txt": f"tensorflow==1.15\n{listed}\n"}
    assert analyze(checkout(files)).spec.dependencies.requirements == (installed,)


def test_an_image_with_tensorflow_2_is_filled_as_before(checkout: Build) -> None:
    spec = analyze(checkout({"train.py": TF + OPTIMIZES, "README.md": README, "requirements.txt": "tensorflow\n"})).spec
    assert spec.environment.base_image == "tensorflow/tensorflow:2.20.0-gpu"
    assert spec.dependencies.requirements == ("tensorflow",)
