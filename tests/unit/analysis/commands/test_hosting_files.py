"""What hosts of models are told about the machine: RunPod's `.runpod/hub.json`, cog's `cog.yaml`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.hosting_files import wish_for
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
PREDICT = """\
from cog import BasePredictor, Input

class Predictor(BasePredictor):
    def setup(self):
        self.engine = start("bin/upscale")

    def predict(self, image: str = Input()) -> str:
        return self.engine(image)
"""
HANDLER = """\
import runpod
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B-Instruct", torch_dtype="bfloat16", device_map="cuda")

def handler(job):
    return model.generate(job["input"])

runpod.serverless.start({"handler": handler})
"""
WORKER = {"src/handler.py": HANDLER, "requirements.txt": "runpod\ntransformers\ntorch\n"}


def hub(**config: object) -> str:
    given = {"runsOn": "GPU", "containerDiskInGb": 150, "gpuIds": "ADA_80_PRO,AMPERE_80", "gpuCount": 2, **config}
    return json.dumps(
        {"title": "x", "type": "serverless", "config": {k: v for k, v in given.items() if v is not None}}, indent=2
    )


def stated(analysis: Analysis) -> dict[str, tuple[str, str]]:
    """Return what is found in such a file; what memory is concluded from it has its evidence too."""
    found = (f for f in analysis.findings if f.evidence.path.endswith(("hub.json", "cog.yaml")))
    return {f.field: (f.value, str(f.evidence)) for f in found if f.field != "hardware.vram_required_gb"}


def test_runpods_hub_is_evidence_for_card_count_and_disk(checkout: Build) -> None:
    without = analyze(checkout(WORKER))
    analysis = analyze(checkout({**WORKER, ".runpod/hub.json": hub()}))
    assert stated(analysis) == {
        "documented.card": ("H100", ".runpod/hub.json:7"),
        "documented.gpu_count": ("2", ".runpod/hub.json:8"),
        "hardware.gpu_count": ("2", ".runpod/hub.json:8"),
        "hardware.disk_gb": ("150", ".runpod/hub.json:6"),
    }
    assert analysis.proposed.hardware.disk_gb == 150
    assert analysis.proposed.hardware.gpu_count == 2
    assert without.proposed.hardware.gpu_count == 1
    assert without.proposed.hardware.disk_gb == 80
    alone = analyze(checkout({**WORKER, ".runpod/hub.json": hub(gpuCount=1)}))
    assert (alone.proposed.hardware.vram_required_gb or 0) > (without.proposed.hardware.vram_required_gb or 0)


@pytest.mark.parametrize(
    ("ids", "card"),
    [
        ("AMPERE_16", "RTXA4000"),
        ("AMPERE_80,ADA_24", "RTX4090"),
        ("ada_48_pro", "L40S"),
        ("AMPERE_48,-NVIDIA RTX A6000", "A40"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("HOPPER_141", "H200"),
        ("SOMETHING_NEW", None),
        ("-NVIDIA L4", None),
        ("", None),
    ],
)
def test_pools_stand_for_their_memory(checkout: Build, ids: str, card: str | None) -> None:
    wish = wish_for(checkout({".runpod/hub.json": hub(gpuIds=ids)}), "src")
    assert wish is not None
    assert (wish.card[0] if wish.card else None) == card


@pytest.mark.parametrize(
    "config",
    [
        {"gpuCount": 0, "containerDiskInGb": 0},
        {"gpuCount": 900, "containerDiskInGb": 90_000},
        {"gpuCount": -1, "containerDiskInGb": 1.5},
        {"gpuCount": "2; rm", "containerDiskInGb": "much"},
        {"gpuCount": True, "containerDiskInGb": None},
        {"gpuCount": [2], "containerDiskInGb": {"x": 1}},
        {"gpuCount": 10**40, "containerDiskInGb": 10**40},
    ],
)
def test_what_nobody_could_mean_is_left_out(checkout: Build, config: dict[str, object]) -> None:
    analysis = analyze(checkout({**WORKER, ".runpod/hub.json": hub(**config)}))
    assert set(stated(analysis)) == {"documented.card"}
    assert analysis.proposed.hardware.disk_gb == 80


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"config": 3}', '{"config": {"runsOn": "CPU"}}', '{"config": {"gpuCount": 2}}', "[" * 50_000],
)
def test_a_file_that_asks_for_no_gpu_says_nothing(checkout: Build, text: str) -> None:
    without = analyze(checkout(WORKER))
    with_file = analyze(checkout({**WORKER, ".runpod/hub.json": text}))
    assert stated(with_file) == {}
    assert with_file.proposed == without.proposed


def test_what_serves_says_nothing_of_training(checkout: Build) -> None:
    train = "from transformers import Trainer\nif __name__ == '__main__':\n    Trainer(model='gpt2').train()\n"
    files = {"train.py": train, "requirements.txt": "torch\ntransformers\n"}
    without = analyze(checkout(files))
    analysis = analyze(checkout({**files, ".runpod/hub.json": hub()}))
    assert analysis.proposed.meta.workload_type is WorkloadType.TRAINING
    assert analysis.proposed == without.proposed
    pod = json.dumps({**json.loads(hub()), "type": "pod"}, indent=2)
    assert analyze(checkout({**files, ".runpod/hub.json": pod})).proposed.hardware.gpu_count == 2


def test_cog_says_that_a_model_wants_a_gpu_where_no_import_does(checkout: Build) -> None:
    files = {
        "predict.py": PREDICT,
        "cog.yaml": "build:\n  gpu: true\n  python_version: '3.11'\npredict: predict.py:Predictor\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.proposed.needs_gpu
    assert analysis.proposed.meta.workload_type is WorkloadType.INFERENCE
    assert stated(analysis) == {"gpu.use": ("yes", "cog.yaml:2")}
    for text in ("build:\n  gpu: false\n", "build: {}\n", "gpu: true\n", "build:\n  # gpu: true\n  cuda: '12.1'\n", ""):
        alone = analyze(checkout({**files, "cog.yaml": text}))
        assert not alone.proposed.needs_gpu, text


def test_cog_speaks_for_the_programs_of_its_folder(checkout: Build) -> None:
    tree = checkout(
        {"models/up/predict.py": PREDICT, "models/up/cog.yaml": "build: {gpu: true}\n", "other/predict.py": PREDICT}
    )
    assert wish_for(tree, "models/up") is not None
    assert wish_for(tree, "models/up/inner") is not None
    assert wish_for(tree, "models") is None
    assert wish_for(tree, "other") is None


CEREBRIUM = "[cerebrium.hardware]\ncpu = 3\ncompute = {}\n{}\n"


@pytest.mark.parametrize(
    ("compute", "more", "expected"),
    [
        ('"AMPERE_A10"', "", ("A10", 1)),
        ('"ADA_L40"', "gpu_count = 2", ("L40", 2)),
        ('"AMPERE_A100_80GB"', "gpu_count = 1", ("A100-80GB", 1)),
        ('"HOPPER_H100"', "gpu_count = 0", ("H100", 1)),
        ('"CPU"', "", None),
        ('"TRN1"', "gpu_count = 16", None),
        ("10", "", None),
    ],
)
def test_cerebrium_is_told_the_card(checkout: Build, compute: str, more: str, expected: tuple[str, int] | None) -> None:
    wish = wish_for(checkout({"cerebrium.toml": CEREBRIUM.format(compute, more)}), "")
    told = (
        (wish.card[0], wish.count[0]) if wish is not None and wish.card is not None and wish.count is not None else None
    )
    assert told == expected
