"""A batch of thousands of texts is counted in tokens, and that is said, unless its name counts samples."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = """from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
{before}
args = TrainingArguments("out", bf16=True{batch})
Trainer(model=model, args=args).train()
"""


@pytest.mark.parametrize(
    ("before", "batch", "is_of_tokens"),
    [
        ("batch_size = 4096", "", True),
        ("batch_size = 64", "", False),
        ("", ", per_device_train_batch_size=4096", False),
        ("", ", per_gpu_train_batch_size=4096", False),
    ],
)
def test_thousands_of_texts_are_tokens_where_no_name_says_otherwise(
    checkout: Build, before: str, batch: str, is_of_tokens: bool
) -> None:
    found = analyze(checkout({"train.py": TRAIN.format(before=before, batch=batch)}))
    assert found.breakdown is not None
    basis = next(term.basis for term in found.breakdown.terms if term.name == "activations")
    said = "a batch of 4096 was taken as counted in tokens (train.py:3)"
    assert basis.startswith("batch 4 x 1024 tokens") is is_of_tokens
    assert (said in found.not_understood) is is_of_tokens
