"""An encoder that is frozen keeps nothing for a way back, however large the batches are that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = """
from sentence_transformers import SparseEncoder, SparseEncoderTrainer, SparseEncoderTrainingArguments
model = SparseEncoder("mixedbread-ai/mxbai-embed-large-v1")
{freezes}
args = SparseEncoderTrainingArguments(output_dir="out", per_device_train_batch_size=128, bf16=True)
trainer = SparseEncoderTrainer(model=model, args=args, train_dataset=texts, loss=loss)
trainer.train()
"""


def needed(checkout: Build, freezes: str) -> int:
    return analyze(checkout({"train.py": TRAIN.format(freezes=freezes)})).spec.hardware.vram_required_gb


@pytest.mark.parametrize(
    "freezes",
    [
        "model[0].requires_grad_(False)",
        "model[0].auto_model.requires_grad_(False)",
        "for weight in model[0].parameters():\n    weight.requires_grad = False",
    ],
)
def test_a_frozen_encoder_keeps_nothing(checkout: Build, freezes: str) -> None:
    assert needed(checkout, freezes) <= 16 < needed(checkout, "")


def test_what_only_speaks_of_it_freezes_nothing(checkout: Build) -> None:
    assert needed(checkout, "# model[0].requires_grad_(False)") == needed(checkout, "")
    assert needed(checkout, "model[1].requires_grad_(False)") == needed(checkout, "")


@pytest.mark.parametrize(
    "freezes",
    [
        "teacher_model = SparseEncoder('ours')\nteacher_model[0].requires_grad_(False)",
        "model[0].requires_grad_(False)\nfor w in model[0].auto_model.encoder.layer[-4:].parameters():\n    w.requires_grad = True",
        "model[0].requires_grad_(False)\nwarm_up(model)\nmodel[0].requires_grad_(True)",
        "if args.freeze:\n    model[0].requires_grad_(False)",
        "for part in parts:\n    if part.frozen:\n        print(part)\n        model[0].requires_grad_(False)",
        '"""\nTo train the head alone:\n\n    model[0].requires_grad_(False)\n"""',
    ],
)
def test_an_encoder_that_learns_after_all(checkout: Build, freezes: str) -> None:
    assert needed(checkout, freezes) == needed(checkout, "")


def test_a_frozen_encoder_within_a_function(checkout: Build) -> None:
    inset = "".join(f"    {line}\n" for line in TRAIN.format(freezes="model[0].requires_grad_(False)").split("\n"))
    program = f"def main():\n{inset}\n\nif __name__ == '__main__':\n    main()\n"
    assert analyze(checkout({"train.py": program})).spec.hardware.vram_required_gb <= 16
