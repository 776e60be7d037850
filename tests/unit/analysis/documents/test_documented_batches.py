"""Batches that a document names beside an amount."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.documented_batches import batches_told
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.stated.reconcile import statements

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = (
    "from transformers import AutoModel, Trainer, TrainingArguments\n"
    "model = AutoModel.from_pretrained('microsoft/mpnet-base')\n"
    "args = TrainingArguments(output_dir='out', per_device_train_batch_size=64, fp16=True)\n"
    "Trainer(model=model, args=args).train()\n"
)


@pytest.mark.parametrize(
    ("sentence", "batch"),
    [
        ("I trained it with a batch size of 350 on 32 GB GPU memory.", "350"),
        ("With batch_size=64 it takes 24 GB of VRAM.", "64"),
        ("A V100 with 16 GB holds a batch of 8.", "8"),
        ("It needs 24 GB; use 128 as batch size there with a larger GPU.", "128"),
        ("It needs a GPU with 24 GB. The batch size is 64.", None),
        ("On a GPU a batch size of 8 takes 12 GB and a batch size of 16 takes 20 GB.", None),
        ("| batch size 8 | 12 GB GPU |", None),
        ("A batch of 16 GB needs a GPU.", None),
    ],
)
def test_the_sentence_on_memory_names_one_batch(checkout: Build, sentence: str, batch: str | None) -> None:
    source = checkout({"README.md": f"# It\n\n{sentence}\n"}).find("README.md")
    assert source is not None
    assert [found.value for found in batches_told(source, [3])] == ([batch] if batch else [])


@pytest.mark.parametrize(("batch", "rank"), [(350, 2), (96, 0), (64, 0), (16, 2)])
def test_an_amount_of_another_batch_is_another_run_s(checkout: Build, batch: int, rank: int) -> None:
    text = f"# It\n\nIt was trained with a batch size of {batch} on a GPU with 32 GB memory.\n\n```\npython train.py\n```\n"
    analysis = analyze(checkout({"README.md": text, "train.py": PROGRAM}))
    said = [each for each in statements(analysis.findings, trains=True) if each.memory_gib == 32]
    assert [each.rank for each in said] == [rank]
