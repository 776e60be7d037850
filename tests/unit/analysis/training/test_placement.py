"""Trainings that no machine of eight cards holds: they are divided over several, as everybody who runs them does."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = (
    "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('{}')\n"
    "opt = torch.optim.AdamW(model.parameters())\nmodel(x).loss.backward()\nopt.step()\n"
)


@pytest.mark.parametrize(
    ("model", "machines"),
    [("mistralai/Mixtral-8x22B-v0.1", 8), ("meta-llama/Llama-3.1-405B", 16), ("meta-llama/Llama-2-7b-hf", 1)],
)
def test_what_no_machine_holds_takes_several(checkout: Build, model: str, machines: int) -> None:
    analysis = analyze(checkout({"train.py": TRAIN.format(model)}))
    hardware = analysis.proposed.hardware
    assert (hardware.vram_required_gb, hardware.num_nodes) == (80, machines)
    assert any(f"{machines} machines" in said for said in analysis.not_understood) is (machines > 1)
    assert hardware.gpu_count <= 8


def test_cards_that_something_counts_stay_as_they_are(checkout: Build) -> None:
    files = {"train.py": TRAIN.format("meta-llama/Llama-3.1-405B"), "run.sh": "torchrun --nproc_per_node 4 train.py\n"}
    hardware = analyze(checkout(files)).proposed.hardware
    assert (hardware.gpu_count, hardware.num_nodes) == (4, 1)


def test_a_batch_that_no_machine_holds_is_set_aside_before_machines_are_counted(checkout: Build) -> None:
    files = {
        "train.py": TRAIN.format("meta-llama/Llama-2-70b-hf"),
        "run.sh": "python train.py --per_device_train_batch_size 1024\n",
    }
    analysis = analyze(checkout(files))
    hardware = analysis.proposed.hardware
    assert (hardware.vram_required_gb, hardware.gpu_count) == (80, 8)
    assert hardware.num_nodes > 1
    assert any("against what was read" in said for said in analysis.not_understood)
