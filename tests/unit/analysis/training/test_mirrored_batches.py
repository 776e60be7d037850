"""TensorFlow cuts a batch into one part per card, unless the program multiplies it or hands each card batches of its own."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

PROGRAM = """import tensorflow as tf
{before}
strategy = tf.distribute.{strategy}
{batch}
data = tf.keras.utils.image_dataset_from_directory("data", image_size=(224, 224), batch_size=SIZE)
with strategy.scope():
    model = tf.keras.applications.ResNet50(weights=None)
    model.compile(optimizer="sgd", loss="mse")
{fit}
"""


def spread(checkout: Build, **parts: str) -> str | None:
    said = {"before": "", "strategy": "MirroredStrategy()", "batch": "SIZE = 512", "fit": "model.fit(data)"} | parts
    found = analyze(checkout({"requirements.txt": "tensorflow\n", "train.py": PROGRAM.format(**said)}))
    return next((f.value for f in found.findings if f.field == "training.batch_spread"), None)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"strategy": 'MirroredStrategy(["gpu:0", "gpu:1"])'},
        {"strategy": "MultiWorkerMirroredStrategy()"},
        {"before": "from tensorflow.distribute import MirroredStrategy", "batch": "SIZE = 256"},
        {"batch": 'SIZE = 512\nprint(f"{strategy.num_replicas_in_sync} cards")'},
        {"batch": 'SIZE = 512\nprint("cards: {}".format(strategy.num_replicas_in_sync))'},
        {"batch": "SIZE = 512\neach = SIZE // strategy.num_replicas_in_sync"},
        {
            "fit": "for x in strategy.experimental_distribute_dataset(data):\n    strategy.run(step, args=(x,))\n    optimizer.apply_gradients(zip(tape.gradient(loss, w), w))"
        },
    ],
)
def test_a_batch_of_a_strategy_is_for_all_cards(checkout: Build, parts: dict[str, str]) -> None:
    assert spread(checkout, **parts) == "all"


@pytest.mark.parametrize(
    "parts",
    [
        {"batch": "SIZE = 128 * strategy.num_replicas_in_sync"},
        {"batch": "EACH = 128\nSIZE = strategy.num_replicas_in_sync * EACH"},
        {"batch": "EACH = 128\ncards = strategy.num_replicas_in_sync\nSIZE = EACH * cards"},
        {"batch": 'cards = tf.config.list_physical_devices("GPU")\nSIZE = 256 * len(cards)'},
        {
            "batch": "EACH = 256\ncount = len(tf.config.list_physical_devices('GPU'))\nSIZE = EACH * max(1, count)",
            "before": "gpus = 1",
        },
        {"batch": "BATCH = 256\nSIZE = BATCH * n"},
        {"batch": "BATCH = 256\nSIZE = n * BATCH"},
        {"batch": "EACH = 256\nSIZE = EACH * args.num_gpus"},
        {"batch": "EACH = 256\nSIZE = EACH * n_gpus"},
        {"batch": "EACH = 256\nSIZE = EACH * max(1, strategy.num_replicas_in_sync)"},
        {"batch": "EACH = 256\nSIZE = EACH * int(strategy.num_replicas_in_sync)"},
        {"batch": "EACH = 256\nSIZE = int(strategy.num_replicas_in_sync) * EACH"},
        {"batch": "EACH = 256\nsize = int(strategy.num_replicas_in_sync)\nSIZE = size * EACH"},
        {"before": "from tensorflow import keras", "fit": "train.batch(EACH * len(gpus))\nmodel.fit(data)"},
        {"fit": "strategy.distribute_datasets_from_function(make)\nmodel.fit(data)"},
        {"strategy": 'OneDeviceStrategy("gpu:0")'},
    ],
)
def test_a_batch_that_is_multiplied_is_each_cards(checkout: Build, parts: dict[str, str]) -> None:
    assert spread(checkout, **parts) is None


def test_what_a_strategy_does_is_not_told_surely(checkout: Build) -> None:
    program = PROGRAM.format(before="", strategy="MirroredStrategy()", batch="SIZE = 512", fit="model.fit(data)")
    found = analyze(checkout({"requirements.txt": "tensorflow\n", "train.py": program})).findings
    assert {f.confidence for f in found if f.field == "training.batch_spread"} == {Confidence.MEDIUM}


@pytest.mark.parametrize(
    "more",
    [
        "data.shuffle(SIZE * 4)",
        "from library import *\ngpus = 4",
        "call(*data, device=1)",
        "call(*data, **batch)",
        "batches = 4 * 3",
        "side = wide * 2",
    ],
)
def test_other_products_leave_a_batch_as_it_is(checkout: Build, more: str) -> None:
    assert spread(checkout, fit=f"{more}\nmodel.fit(data)") == "all"
