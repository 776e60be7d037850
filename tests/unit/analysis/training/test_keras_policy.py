"""Keras computes in what its policy for all layers says, wherever its name is written."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.finding import Confidence
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


SET = 'mixed_precision.set_global_policy("mixed_float16")'


@pytest.mark.parametrize(
    "before",
    [
        f"USE_AMP = False\nif USE_AMP:\n    {SET}",
        f"if USE_AMP:\n    {SET}",
        f"USE_AMP = True\nUSE_AMP = size() > 3\nif USE_AMP:\n    {SET}",
        f"class Config:\n    amp = False\n\nif Config().amp:\n    {SET}",
        f"if cards: {SET}",
        f"if cards:\n    with strategy.scope():\n        {SET}",
        f"try:\n    {SET}\nexcept ValueError:\n    pass",
        f"if cards:\n    pass\nelse:\n    {SET}",
        f"def start():\n    {SET}\n\nif cards:\n    start()",
        f"def start():\n    {SET}\n",
        f"from precision import start\n{SET[:0]}start()",
        # Of several, nothing tells which counts.
        f"{SET}\nmixed_precision.set_global_policy('float32')",
        # A layer's own policy is not that of all.
        "mixed_precision.set_global_policy(best())\nhead = keras.layers.Dense(9, dtype=keras.DTypePolicy('float32'))",
        "policy = best()\nmixed_precision.set_global_policy(policy)\nhead = keras.layers.Dense(9, dtype=keras.DTypePolicy('float32'))",
    ],
)  # fmt: skip
def test_a_policy_that_may_be_left_out_or_is_of_another_says_nothing(checkout: Build, before: str) -> None:
    helper = f"from tensorflow.keras import mixed_precision\n\n\ndef start():\n    {SET}\n"
    assert precision(checkout, before, precision_py=helper) is None


@pytest.mark.parametrize(
    "before",
    [
        f"USE_AMP = True  # on cards\nif USE_AMP:\n    {SET}",
        f"def start():\n    {SET}\n\nstart()",
        f"def start():\n    {SET}\n\nif __name__ == '__main__':\n    start()",
        f"with strategy.scope():\n    {SET}",
    ],
)  # fmt: skip
def test_what_a_run_surely_comes_by_counts(checkout: Build, before: str) -> None:
    assert precision(checkout, before) == "fp16"


def test_an_option_that_the_command_gives_sets_it(checkout: Build) -> None:
    assert precision(checkout, SWITCHED, run_sh="python train.py --half\n") == "fp16"
    assert precision(checkout, SWITCHED, run_sh="python train.py\n") is None


def test_of_several_policies_that_counts_which_is_set_where_it_trains(checkout: Build) -> None:
    fit = FIT.replace("\n", "\n    ")
    program = f"from tensorflow.keras import mixed_precision\nimport tensorflow as tf\n\ndef export():\n    mixed_precision.set_global_policy('float32')\n\ndef train():\n    {SET}{fit}\n\ntrain()\nexport()\n"  # fmt: skip
    found = analyze(checkout({"requirements.txt": "tensorflow\n", "train.py": program})).findings
    told = [(f.value, f.confidence) for f in found if f.field == "training.precision"]
    assert told == [("fp16", Confidence.MEDIUM)]
