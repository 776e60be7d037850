"""fastai's loaders start with 64 samples at a time, Keras's and its ``fit`` with 32: read where a program gives none."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

FASTAI = "from fastai.vision.all import *\n{loader}\nlearn = vision_learner(dls, resnet34)\nlearn.fine_tune(3)\n"
KERAS = """import tensorflow as tf
{loader}
model = tf.keras.applications.ResNet50(weights=None)
model.compile(optimizer="sgd", loss="mse")
model.fit({given})
"""


def batch(checkout: Build, program: str, package: str) -> str | None:
    found = analyze(checkout({"requirements.txt": f"{package}\n", "train.py": program})).findings
    return next((f.value for f in found if f.field == "training.batch_size"), None)


@pytest.mark.parametrize(
    "loader",
    [
        "dls = ImageDataLoaders.from_folder('data', item_tfms=Resize(224))",
        "dls = ImageDataLoaders.from_name_func('data', files, label, item_tfms=Resize(224))",
        "dls = DataBlock(blocks=(ImageBlock, CategoryBlock), item_tfms=Resize(224)).dataloaders('data')",
    ],
)
def test_fastai_starts_with_its_own_batch(checkout: Build, loader: str) -> None:
    assert batch(checkout, FASTAI.format(loader=loader), "fastai") == "64"
    assert batch(checkout, FASTAI.format(loader=loader[:-1] + ", bs=16)"), "fastai") == "16"


@pytest.mark.parametrize(
    ("loader", "given"),
    [
        ("(x, y), _ = tf.keras.datasets.cifar10.load_data()", "x, y, epochs=3"),
        ("(x, y), _ = tf.keras.datasets.cifar10.load_data()", "x=x, y=y, epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data', image_size=(224, 224))", "data, epochs=3"),
        ("data = generator.flow_from_directory('data', target_size=(224, 224))", "data, epochs=3"),
    ],
)
def test_keras_starts_with_its_own_batch(checkout: Build, loader: str, given: str) -> None:
    assert batch(checkout, KERAS.format(loader=loader, given=given), "tensorflow") == "32"


@pytest.mark.parametrize(
    ("loader", "given"),
    [
        ("data = read()", "data, epochs=3"),  # which has batches of its own
        ("x, y = read()", "x, y"),
        ("x, y = read()", "x, y, size(), epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data', batch_size=size())", "data, epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data', **more)", "data, epochs=3"),
    ],
)
def test_a_batch_that_may_be_another_is_not_told(checkout: Build, loader: str, given: str) -> None:
    assert batch(checkout, KERAS.format(loader=loader, given=given), "tensorflow") is None


FLOW = "tf.keras.preprocessing.image.ImageDataGenerator().flow_from_directory"


@pytest.mark.parametrize(
    ("loader", "given"),
    [
        (f"val = {FLOW}('val')\ndata = Generator('train.csv')", "data, validation_data=val, epochs=3"),
        (f"data = {FLOW}('data', (224, 224), 'rgb', None, 'categorical', 128)", "data, epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data', 'inferred', 'int', None, 'rgb', 128)", "data, epochs=3"),
        ("data = tf.keras.utils.text_dataset_from_directory('data', 'inferred', 'int', None, 128)", "data, epochs=3"),
        (f"data = {FLOW}(*more)", "data, epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data')\ndata = data.unbatch().batch(size())", "data, epochs=3"),
        ("for x in data:\n    with tf.GradientTape() as tape:\n        step(x, tape)", "x, y, epochs=3"),
        ("trainer = Trainer()\ntrainer.fit(train(), val(), epochs=3)", "data"),
    ],
)  # fmt: skip
def test_another_loaders_batch_is_not_that_of_the_training(checkout: Build, loader: str, given: str) -> None:
    assert batch(checkout, KERAS.format(loader=loader, given=given), "tensorflow") is None


@pytest.mark.parametrize(
    ("loader", "given"),
    [
        (f"val = {FLOW}('val', batch_size=size())\ndata = {FLOW}('data')", "data, validation_data=val, epochs=3"),
        (f"data = {FLOW}('data', (224, 224), 'rgb', None, 'categorical')", "x=data, epochs=3"),
        ("data = tf.keras.utils.image_dataset_from_directory('data')\ndata = data.prefetch(2)", "data, epochs=3"),
    ],
)
def test_the_loader_that_fit_is_given_says_it(checkout: Build, loader: str, given: str) -> None:
    assert batch(checkout, KERAS.format(loader=loader, given=given), "tensorflow") == "32"
