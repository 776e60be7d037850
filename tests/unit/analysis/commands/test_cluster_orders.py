"""Manifests and charts without programs say how many GPUs a cluster is asked for; their page says what for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
SERVES = "# Serve a model on a cluster\n\nDeploys an inference server.\n"
TRAINS = "# Pretraining on a cluster\n\nTraining takes a day; trained weights are saved.\n"
JOB = "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n      - image: ours\n        resources:\n          limits:\n            nvidia.com/gpu: {}\n"
VALUES = "workload:\n  gpus: {}\n  image: ours\n"


@pytest.mark.parametrize(
    ("files", "workload", "cards"),
    [
        ({"README.md": SERVES, "job.yaml": JOB.format(4)}, "inference", 4),
        ({"README.md": TRAINS, "chart/values.yaml": VALUES.format(8)}, "training", 8),
        ({"README.md": TRAINS, "values_ours.yaml": VALUES.format(256)}, "training", 8),  # of 32 machines
        ({"README.md": SERVES, "job.yaml": JOB.format('"2"')}, "inference", 2),
        # None, a monitor of the cluster's, another file's word, and a list of packages that tells more.
        ({"README.md": SERVES, "job.yaml": JOB.format(0)}, "cpu-only", 0),
        ({"README.md": SERVES, "dcgm-exporter.yaml": JOB.format(4)}, "cpu-only", 0),
        ({"README.md": SERVES, "settings.yaml": VALUES.format(8)}, "cpu-only", 0),
        ({"README.md": SERVES, "job.yaml": JOB.format(4), "requirements.txt": "fastapi\n"}, "cpu-only", 0),
    ],
)
def test_what_a_cluster_is_asked_for(checkout: Build, files: dict[str, str], workload: str, cards: int) -> None:
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == (workload, cards)
