"""fastai's and Keras's own words for a network and for the pictures that it reads."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build


def facts(checkout: Build, program: str, package: str, **files: str) -> dict[str, str]:
    named = {name.replace("_", "."): text for name, text in files.items()}
    found = analyze(checkout({"requirements.txt": f"{package}\n", "train.py": program, **named})).findings
    return {finding.field: finding.value for finding in reversed(found)}


FASTAI = """from fastai.vision.all import *
{before}
dls = ImageDataLoaders.from_folder("data", item_tfms=Resize(460), batch_tfms=aug_transforms(size={size}), bs=32)
learn = {learner}.to_fp16()
learn.fine_tune(3)
"""


@pytest.mark.parametrize(
    ("before", "learner"),
    [
        ("", "vision_learner(dls, resnet152, metrics=error_rate)"),
        ("", "vision_learner(dls, models.resnet152)"),
        ("", "vision_learner(dls, 'resnet152')"),
        ("", "cnn_learner(dls, arch=resnet152)"),
        ("NET = 'resnet152'", "vision_learner(dls, NET)"),
        ("def build(kind):\n    return vision_learner(dls, kind)\n", "build('resnet152')"),
    ],
)
def test_a_learner_of_fastai_names_its_network(checkout: Build, before: str, learner: str) -> None:
    found = facts(checkout, FASTAI.format(before=before, learner=learner, size=320), "fastai")
    assert found["media.network"] == "resnet152"
    assert found["media.image_size"] == "320"
    assert found["training.precision"] == "fp16"


@pytest.mark.parametrize("learner", ["vision_learner(dls, my_body)", "vision_learner(dls)", "Learner(dls, net)"])
def test_a_learner_of_a_network_that_is_not_known_names_none(checkout: Build, learner: str) -> None:
    assert "media.network" not in facts(checkout, FASTAI.format(before="", learner=learner, size=320), "fastai")


def test_a_size_that_is_not_told_leaves_the_one_before(checkout: Build) -> None:
    program = FASTAI.format(before="", learner="vision_learner(dls, resnet152)", size="size")
    assert facts(checkout, program, "fastai")["media.image_size"] == "460"


KERAS = """import tensorflow as tf
from tensorflow.keras.applications import Xception
{before}
base = Xception(weights="imagenet", include_top=False, {shape})
model = tf.keras.Sequential([base, tf.keras.layers.Dense(2)])
model.compile(optimizer="adam", loss="mse")
model.fit(data, epochs=2)
"""


@pytest.mark.parametrize(
    ("before", "shape"),
    [
        ("", "input_shape=(512, 512, 3)"),
        ("SIDE = 512", "input_shape=(SIDE, SIDE, 3)"),
        ("SHAPE = (512, 512, 3)", "input_shape=SHAPE"),
        ("class Config:\n    side = 512", "input_shape=(Config.side, Config.side, 3)"),
    ],
)
def test_a_network_of_keras_is_made_for_its_pictures(checkout: Build, before: str, shape: str) -> None:
    found = facts(checkout, KERAS.format(before=before, shape=shape), "tensorflow")
    assert found["media.image_size"] == "512x512"


@pytest.mark.parametrize("shape", ["input_shape=(None, None, 3)", "input_shape=shape", "pooling='avg'"])
def test_sides_that_nothing_says_are_not_told(checkout: Build, shape: str) -> None:
    assert "media.image_size" not in facts(checkout, KERAS.format(before="", shape=shape), "tensorflow")


@pytest.mark.parametrize(
    "before",
    [
        "judge = tf.keras.applications.VGG16(weights='imagenet', input_shape=(64, 64, 3))",
        "teacher = tf.keras.applications.MobileNetV2()\nteacher.trainable = False",
        "def freeze(net):\n    net.trainable = False",
    ],
)
def test_a_network_beside_another_or_a_frozen_one_tells_no_size(checkout: Build, before: str) -> None:
    found = facts(checkout, KERAS.format(before=before, shape="input_shape=(512, 512, 3)"), "tensorflow")
    assert "media.image_size" not in found


@pytest.mark.parametrize(
    "before",
    [
        "def load(path):\n    return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), (96, 96))\n",
        "step = tf.keras.layers.Resizing(96, 96)",
    ],
)
def test_what_samples_are_made_to_goes_before_what_a_network_is_made_for(checkout: Build, before: str) -> None:
    found = facts(checkout, KERAS.format(before=before, shape="input_shape=(512, 512, 3)"), "tensorflow")
    assert found["media.image_size"] == "96x96"
