"""The order of a tensor's sides, as TensorFlow and NumPy are told it, and as PyTorch is."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import detect_all
from gpu_lol_action.analysis.networks.forms import pooled_side
from gpu_lol_action.analysis.networks.shapes import reshaped
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

SHAPE = (2.0, 3.0, 49.0, 32.0)


@pytest.mark.parametrize(
    ("name", "places", "expected"),
    [
        ("transpose", ([0, 2, 1, 3],), (2.0, 49.0, 3.0, 32.0)),  # tf.transpose(x, [0, 2, 1, 3])
        ("transpose", (0, 2, 1, 3), (2.0, 49.0, 3.0, 32.0)),  # x.transpose(0, 2, 1, 3) of an array
        ("transpose", (1, 2), (2.0, 49.0, 3.0, 32.0)),  # x.transpose(1, 2) of PyTorch's
        ("permute", (0, 2, 1, 3), (2.0, 49.0, 3.0, 32.0)),
        ("transpose", ([0, 1],), None),
    ],
)
def test_sides_are_ordered_as_each_library_is_told(
    name: str, places: tuple[object, ...], expected: tuple[float, ...] | None
) -> None:
    assert reshaped(name, SHAPE, 2 * 3 * 49 * 32.0, places) == expected


ATTENTION = (
    "import tensorflow as tf\nfrom tensorflow.keras import Model, layers\nclass Attention(layers.Layer):\n"
    "    def __init__(self, dim, heads):\n        super().__init__()\n        self.heads = heads\n        self.qkv = layers.Dense(dim * 3)\n"
    "        self.proj = layers.Dense(dim)\n    def call(self, x):\n        B, N, C = x.shape\n        qkv = self.qkv(x)\n"
    "        qkv = tf.reshape(qkv, [B, N, 3, self.heads, C // self.heads])\n        qkv = tf.transpose(qkv, [2, 0, 3, 1, 4])\n"
    "        q, k, v = qkv[0], qkv[1], qkv[2]\n        x = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)\n"
    "        x = tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [B, N, C])\n        return self.proj(x)\n"
    "class Net(Model):\n    def __init__(self):\n        super().__init__()\n        self.embed = layers.Conv2D(96, 4, strides=4)\n"
    "        self.blocks = [Attention(96, 3) for _ in range(4)]\n    def call(self, x):\n        x = self.embed(x)\n"
    "        B, H, W, C = x.shape\n        x = tf.reshape(x, [B, H * W, C])\n        for block in self.blocks:\n            x = block(x)\n        return x\n"
    "model = Net()\nmodel.build((1, 224, 224, 3))\nmodel.compile('adam', 'mse')\nmodel.fit(data)\n"
)


def test_attention_of_tensorflow_has_the_weights_of_its_layers(checkout: Build) -> None:
    found = {finding.field: finding.value for finding in detect_all(checkout({"train.py": ATTENTION}))}
    embedding, attention = 4 * 4 * 3 * 96 + 96, 96 * 288 + 288 + 96 * 96 + 96
    assert found["media.own_parameters"] == str(embedding + 4 * attention)


POOLED = (
    "import tensorflow as tf\nfrom tensorflow.keras import Model, layers\nclass Net(Model):\n    def __init__(self):\n        super().__init__()\n"
    "        self.conv = layers.Conv2D(8, 4, strides=4)\n        self.pool = layers.{}\n        self.head = layers.Dense(10)\n"
    "    def call(self, x):\n        return self.head(layers.Flatten()(self.pool(self.conv(x))))\n"
    "model = Net()\nmodel.build((1, 224, 224, 3))\nmodel.compile('adam', 'mse')\nmodel.fit(data)\n"
)


@pytest.mark.parametrize(
    ("pool", "side"),
    [
        ("AvgPool2D(pool_size=56, strides=1)", 1),
        ("AvgPool2D(pool_size=7, strides=1)", 50),
        ("MaxPool2D(pool_size=3, strides=2)", 27),
        ("MaxPool2D(pool_size=3, strides=2, padding='same')", 28),
        ("MaxPool2D()", 28),
    ],
)
def test_a_pool_leaves_as_many_windows_as_fit(checkout: Build, pool: str, side: int) -> None:
    found = {finding.field: finding.value for finding in detect_all(checkout({"train.py": POOLED.format(pool)}))}
    assert int(found["media.own_parameters"]) == 4 * 4 * 3 * 8 + 8 + side * side * 8 * 10 + 10


@pytest.mark.parametrize(
    ("side", "step", "window", "pad", "expected"),
    [(112, 2, 3, 1, 56), (55, 2, 3, 0, 27), (20, 1, 5, 2, 20), (7, 1, 7, 0, 1), (14, 2, 2, 0, 7), (3, 2, 5, 0, 1), (7, 2, None, 0, 3), (7, 2, 3, None, 4)],
)  # fmt: skip
def test_sides_after_a_pool(side: float, step: float, window: float | None, pad: float | None, expected: float) -> None:
    assert pooled_side(side, step, window, pad) == expected


def test_a_picture_that_was_not_shrunk_before_a_dense_layer_makes_no_network_of_billions(checkout: Build) -> None:
    program = (
        POOLED.format("Activation('relu')")
        .replace("Conv2D(8, 4, strides=4)", "Conv2D(512, 1)")
        .replace("Dense(10)", "Dense(1024)")
    )
    found = [
        finding for finding in detect_all(checkout({"train.py": program})) if finding.field == "media.own_parameters"
    ]
    assert [finding.confidence for finding in found] == [Confidence.LOW]
