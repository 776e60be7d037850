"""What trains on TPUs alone: a run of the model that a GPU can do goes first."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = "import tensorflow as tf\nestimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn=data, max_steps=100)\n"
SHOWN = "import torch\nmodel = load(path).cuda()\nprint(model.generate(text))\n"


@pytest.mark.parametrize(("program", "workload"), [("train_tpu.py", "inference"), ("train_text.py", "training")])
def test_what_trains_on_tpus_alone_stands_behind_what_runs_the_model(
    checkout: Build, program: str, workload: str
) -> None:
    start = {"train/start.sh": f"python {program} --learning_rate 1e-4\n", f"train/{program}": TRAIN}
    analysis = analyze(checkout({**start, "scripts/demo.py": SHOWN, "requirements.txt": "tensorflow-gpu\ntorch\n"}))
    assert analysis.spec.meta.workload_type.value == workload
