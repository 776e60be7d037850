"""A card that is only named where an amount is asked for, and commands that are offered to the few."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated.reconcile import statements
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build

TUNE = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-0.5B')\nmodel(x).loss.backward()\n"


def finding(kind: str, value: str, confidence: Confidence, line: int = 3) -> Finding:
    return Finding(f"documented.inference.{kind}", value, "", confidence, Evidence("README.md", line))


@pytest.mark.parametrize(
    ("card", "confidence", "line", "left"),
    [
        ("H100", Confidence.LOW, 3, 1),  # fast on an H800, and fits into 16 GB
        ("H100", Confidence.MEDIUM, 3, 2),  # it was used
        ("H100", Confidence.LOW, 4, 2),  # another sentence
        ("V100", Confidence.LOW, 3, 2),  # the card that has this amount
    ],
)
def test_a_card_beside_an_amount_says_nothing_of_its_own(
    card: str, confidence: Confidence, line: int, left: int
) -> None:
    said = statements(
        [finding("memory_gb", "16", Confidence.MEDIUM), finding("card", card, confidence, line)], trains=False
    )
    assert len(said) == left


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ("If you are interested in pre-training your own encoder, you can use:", "train.py"),
        ("Optional: train the encoder anew.", "train.py"),
        ("We train the encoder first:", "train_encoder.py"),
    ],
)
def test_a_pre_training_that_is_offered_aside_is_not_the_main_run(checkout: Build, leads: str, expected: str) -> None:
    readme = (
        "# N\n\n## Standard training\n```\npython train.py\n```\n\n"
        f"## Pre-training the encoder\n{leads}\n```\npython train_encoder.py\n```\n"
    )
    run = primary_run(checkout({"README.md": readme, "train.py": TUNE, "train_encoder.py": TUNE}))
    assert run is not None
    assert run.script is not None
    assert run.script.path == expected


SERVICE = (
    "type: service\nimage: ghcr.io/huggingface/text-generation-inference:latest\nenv:\n  - MODEL_ID={}\ncommands:\n"
    "  - text-generation-launcher\n    --port 80\n{}port: 80\nresources:\n  gpu: {}\n"
)


def test_a_service_has_the_model_of_its_variable_and_the_published_weights_come_first(checkout: Build) -> None:
    gptq = SERVICE.format("TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ", "    --quantize gptq\n", "25GB..50GB")
    plain = SERVICE.format("mistralai/Mixtral-8x7B-Instruct-v0.1", "    --num-shard 2\n", "80GB:2")
    analysis = analyze(checkout({"a-gptq.dstack.yml": gptq, "b.dstack.yml": plain}))
    hardware = analysis.proposed.hardware
    assert (hardware.vram_required_gb, hardware.gpu_count) == (80, 2)
    assert any(f.field == "model.id" and f.value.startswith("mistralai/") for f in analysis.findings)
