"""Programs of TensorFlow 2 as it was before Keras 3 get a TensorFlow that still has what they call."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.packages import packages
from tests.unit.analysis.conftest import Build

README = "```\npython train.py\n```\n"
TF = "import tensorflow as tf\nmodel.compile(optimizer=tf.keras.optimizers.Adam(1e-3))\nmodel.fit(data)\n"


def wanted(tree: Checkout) -> list[str]:
    found = [f.value for f in packages.detect(tree) if f.field == "dependencies.requirements"]
    return [value for value in found if value.startswith("tensorflow") and "addons" not in value]


@pytest.mark.parametrize(
    ("files", "requirement", "image"),
    [
        ({"train.py": TF + "import tensorflow_addons as tfa\n", "requirements.txt": "tensorflow\ntensorflow_addons\n"}, "tensorflow<2.16", "2.15.0"),
        ({"train.py": TF + "tf.estimator.train_and_evaluate(a, b, c)\n"}, "tensorflow<2.16", "2.15.0"),
        ({"train.py": "import tensorflow.compat.v1 as tf\ntf.estimator.Estimator(f)\ntf.train.AdamOptimizer(1).minimize(loss)\n"}, "tensorflow<2.16", "2.15.0"),
        ({"train.py": TF + "import net\n", "net.py": TF + "x = tf.keras.layers.experimental.preprocessing.Rescaling(2)\n"}, "tensorflow<2.16", "2.15.0"),
        ({"train.py": TF, "requirements.txt": "tensorflow>=2.3.0\nkeras<=2.11\n"}, "tensorflow>=2.3.0,<2.16", "2.15.0"),
        ({"train.py": TF + "from keras.utils.np_utils import to_categorical\ntf.estimator.Estimator(f)\n"}, "tensorflow<2.13", "2.12.0"),
    ],
)  # fmt: skip
def test_what_later_releases_took_out_bounds_tensorflow(
    checkout: Build, files: dict[str, str], requirement: str, image: str
) -> None:
    tree = checkout({"README.md": README, **files})
    assert wanted(tree) == [requirement]
    assert analyze(tree).spec.environment.base_image == f"tensorflow/tensorflow:{image}-gpu"


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"train.py": TF}, "tensorflow"),
        ({"train.py": TF + "tf.estimator.Estimator(f)\n", "requirements.txt": "tensorflow==2.9.1\n"}, "tensorflow==2.9.1"),
        ({"train.py": TF + "tf.estimator.Estimator(f)\n", "requirements.txt": "tensorflow>=2.17\n"}, "tensorflow>=2.17"),
        ({"train.py": TF, "old.py": "import tensorflow_addons\n", "requirements.txt": "tensorflow\n"}, "tensorflow"),  # which the run does not take
        ({"train.py": TF + "try:\n    import tensorflow_addons as tfa\nexcept ImportError:\n    tfa = None\n"}, "tensorflow"),
        ({"train.py": TF, "requirements.txt": "tensorflow\nkeras>=2.4\n"}, "tensorflow"),
        ({"train.py": TF + "import tf_keras\ntf.estimator.Estimator(f)\n"}, "tensorflow"),
    ],
)  # fmt: skip
def test_what_every_release_has_or_a_list_bounds_stays(checkout: Build, files: dict[str, str], kept: str) -> None:
    assert wanted(checkout({"README.md": README, **files})) == [kept]
