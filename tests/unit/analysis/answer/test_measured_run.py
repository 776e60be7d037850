"""Which run a measurement is of, and what it changes of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.calibrated import calibrated
from gpu_lol_action.analysis.answer.measured_run import Estimated, estimated_for
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis, Override
from gpu_lol_action.domain.card_sizes import sold_gb
from gpu_lol_action.domain.measured import MeasuredRun

PROGRAM = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(per_device_train_batch_size={batch}, bf16=True, max_seq_length=2048, gradient_checkpointing=True)
Trainer(model=model, args=args).train()
"""
FILES = {
    "train.py": PROGRAM.format(batch=4),
    "README.md": "# A model\n\n```\npython train.py --lr 1e-4\n```\n",
    "requirements.txt": "torch\ntransformers\n",
}
Build = Callable[[Mapping[str, str]], Checkout]


def analyzed(checkout: Build, **more: str) -> tuple[Checkout, Analysis]:
    tree = checkout({**FILES, **{name.replace("_", "."): text for name, text in more.items()}})
    return tree, analyze(tree, tree.spec_text)


def run_of(analysis: Analysis, peak_gib: float) -> MeasuredRun:
    assert analysis.breakdown is not None
    low, expected, high = analysis.breakdown.estimated
    at = datetime(2026, 11, 20, 3, 0, tzinfo=timezone.utc)
    return MeasuredRun(
        at, "a" * 40, "run", "python train.py", "NVIDIA A100", peak_gib, 79.6, 30, True, analysis.breakdown.workload, low, expected, high
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        "python train.py --lr 1e-4",
        "python3 ./train.py --lr 1e-4",
        "pip install -e . && python train.py --lr 1e-4 --max_steps 10",
        "python train.py --max-steps=10 --lr 1e-4 --report_to none  # ten steps",
        "nvidia-smi; python train.py --lr 1e-4 --output-dir /tmp/out",
    ],
)
def test_same_run_for_fewer_steps_is_the_run(checkout: Build, command: str) -> None:
    found = estimated_for(command, *analyzed(checkout))
    assert isinstance(found, Estimated), found
    assert found.is_first
    assert found.breakdown.workload is not None
    assert found.breakdown.workload.batch_size == 4


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest -m gpu",
        "python train.py --lr 1e-4 --per_device_train_batch_size 64",
        "python train.py --lr 1e-4 | tee log",
        "python train.py --lr 1e-4 & python other.py",
        "python other.py; python train.py --lr 1e-4",
        "CUDA_VISIBLE_DEVICES= python train.py --lr 1e-4",
        "python 'train.py",
        "",
    ],
)
def test_anything_else_is_another_run(checkout: Build, command: str) -> None:
    found = estimated_for(command, *analyzed(checkout))
    assert isinstance(found, str)
    assert "is of `python train.py --lr 1e-4`, which this was not" in found


@pytest.mark.parametrize("library", ["jax[cuda12]==0.5", "vllm>=0.8", "tensorflow"])
def test_library_that_takes_the_card_in_advance_measures_nothing(checkout: Build, library: str) -> None:
    tree, analysis = analyzed(checkout, requirements_txt=f"torch\ntransformers\n{library}\n")
    found = estimated_for("python train.py --lr 1e-4", tree, analysis)
    assert isinstance(found, str)
    assert "takes the card's memory in advance" in found
    assert calibrated(analysis, [run_of(analysis, 60.0)], None) is analysis


def test_what_was_measured_becomes_the_need_with_its_evidence(checkout: Build) -> None:
    _, analysis = analyzed(checkout)
    assert analysis.breakdown is not None
    peak = analysis.breakdown.expected_gib * 0.9
    found = calibrated(analysis, [run_of(analysis, peak)], None)
    assert found.breakdown is not None
    required = found.spec.hardware.needed_gib
    assert required == found.proposed.hardware.needed_gib == found.breakdown.required_gib
    assert found.spec.hardware.vram_required_gb == sold_gb(required)
    (need,) = [each for each in found.findings if each.field == "hardware.vram_required_gb"]
    assert need.value == str(required)
    assert "(\u221210 %; NVIDIA A100, `run` at aaaaaaa on 2026-11-20)" in need.why
    assert found.differences == ()


def test_changed_batch_takes_nothing_of_it(checkout: Build) -> None:
    _, analysis = analyzed(checkout)
    run = run_of(analysis, 60.0)
    tree = checkout({"train.py": PROGRAM.format(batch=8)})
    other = analyze(tree)
    assert calibrated(other, [run], None) is other


@pytest.mark.parametrize(("asks", "is_doubted"), [(200, True), (20, True), (72, False), (80, False)])
def test_files_own_word_stands_and_is_doubted_where_it_is_far_off(checkout: Build, asks: int, is_doubted: bool) -> None:
    text = f"hardware:\n  vram_required_gb: {asks}\n"
    tree = checkout({**FILES, ".gpu-lol.yaml": text})
    analysis = analyze(tree, text)
    found = calibrated(analysis, [run_of(analysis, 58.0)], text)
    assert found.spec.hardware.vram_required_gb == asks
    assert (found.proposed.hardware.vram_required_gb, found.proposed.hardware.needed_gib) == (80, 70)
    keys = {each.key: each for each in found.differences}
    assert ("hardware.vram_required_gb" in keys) is is_doubted
    if is_doubted:
        assert "measured 58.0 GiB" in keys["hardware.vram_required_gb"].why


def test_language_models_word_is_not_touched(checkout: Build) -> None:
    _, analysis = analyzed(checkout)
    advised = replace(analysis, override=Override("a model", "it said so", ()))
    assert calibrated(advised, [run_of(analysis, 60.0)], None) is advised


def test_a_run_that_saves_measures_nothing_of_one_that_is_only_assumed_to(checkout: Build) -> None:
    written = PROGRAM.replace("meta-llama/Llama-3.2-1B", "TinyLlama/TinyLlama-1.1B-Chat-v1.0")
    _, saving = analyzed(checkout, train_py=written.format(batch=16))
    tree, assumed = analyzed(checkout, train_py=written.replace(", gradient_checkpointing=True", "").format(batch=16))
    assert calibrated(assumed, [run_of(saving, 30.0)], tree.spec_text) == assumed
    measured = calibrated(assumed, [run_of(assumed, 60.0)], tree.spec_text)
    assert measured.breakdown is not None
    assert measured.breakdown.required_gib < 79
    assert not any("are asked for, not" in note for note in measured.breakdown.notes)
