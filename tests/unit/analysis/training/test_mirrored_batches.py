"""TensorFlow cuts a batch into one part per card, unless the program multiplies it or hands each card batches of its own."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
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
        {"fit": "strategy.distribute_datasets_from_function(make)\nmodel.fit(data)"},
        {"strategy": 'OneDeviceStrategy("gpu:0")'},
    ],
)
def test_a_batch_that_is_multiplied_is_each_cards(checkout: Build, parts: dict[str, str]) -> None:
    assert spread(checkout, **parts) is None
