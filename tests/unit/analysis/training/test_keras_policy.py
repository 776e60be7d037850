"""Keras computes in what its policy for all layers says, wherever its name is written."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

FIT = """
model = tf.keras.applications.ResNet50(weights=None)
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, batch_size=32)
"""
SWITCHED = """import argparse
p = argparse.ArgumentParser()
p.add_argument("--half", action="store_true")
args = p.parse_args()
if args.half:
    mixed_precision.set_global_policy("mixed_float16")
"""


def precision(checkout: Build, before: str, **files: str) -> str | None:
    program = f"import tensorflow as tf\nfrom tensorflow.keras import mixed_precision\n{before}{FIT}"
    named = {name.replace("_", "."): text for name, text in files.items()}
    found = analyze(checkout({"requirements.txt": "tensorflow\n", "train.py": program, **named}))
    return next((f.value for f in found.findings if f.field == "training.precision"), None)


@pytest.mark.parametrize(
    "before",
    [
        'tf.keras.mixed_precision.set_global_policy("mixed_float16")',
        'mixed_precision.set_global_policy(policy="mixed_float16")',
        'KIND = "mixed_float16"\nmixed_precision.set_global_policy(KIND)',
        'policy = mixed_precision.Policy("mixed_float16")\nmixed_precision.set_global_policy(policy)',
        'mixed_precision.set_policy(mixed_precision.experimental.Policy("mixed_float16"))',
        'keras.config.set_dtype_policy("mixed_float16")',
        'def start(kind):\n    mixed_precision.set_global_policy(kind)\n\nstart("mixed_float16")',
    ],
)
def test_a_policy_for_all_layers_is_what_keras_computes_in(checkout: Build, before: str) -> None:
    assert precision(checkout, before) == "fp16"


def test_a_configuration_names_the_policy(checkout: Build) -> None:
    before = 'import yaml\ncfg = yaml.safe_load(open("config.yaml"))\nmixed_precision.set_global_policy(cfg["policy"])'
    assert precision(checkout, before, config_yaml="policy: mixed_bfloat16\n") == "bf16"


@pytest.mark.parametrize(
    "before",
    [
        'policy = mixed_precision.Policy("mixed_float16")',  # which nothing sets
        'def start(kind):\n    mixed_precision.set_global_policy(kind)\n\nstart("mixed_float16")\nstart("float32")',
        "mixed_precision.set_global_policy(kind)",
        SWITCHED,
    ],
)
def test_a_policy_that_is_not_set_or_not_told_says_nothing(checkout: Build, before: str) -> None:
    assert precision(checkout, before) is None
