"""Eight samples are what Hugging Face's arguments start with: read where a program makes them, and assumed where it may be told otherwise."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.domain.analysis import Analysis
from tests.unit.analysis.conftest import Build

TRAIN = """from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("facebook/opt-1.3b")
more = {{}}
{made}
Trainer(model=model, args=arguments, train_dataset=data).train()
"""


def trained(checkout: Build, made: str) -> Analysis:
    return analyze(checkout({"train.py": TRAIN.format(made=made), "requirements.txt": "transformers\n"}))


def batch(found: Analysis) -> tuple[str, str]:
    return next(((f.value, f.why) for f in found.findings if f.field == "training.batch_size"), ("", ""))


@pytest.mark.parametrize("given", ['"out", bf16=True', '"out"', 'output_dir="out"'])
def test_a_batch_that_is_not_given_is_the_one_that_the_arguments_start_with(checkout: Build, given: str) -> None:
    found = trained(checkout, f"arguments = TrainingArguments({given})")
    assert batch(found) == ("8", "`TrainingArguments` starts with 8 samples at a time")
    assert not any(gap.startswith("no batch size was found") for gap in found.not_understood)


@pytest.mark.parametrize(
    "made",
    [
        'arguments = TrainingArguments("out", bf16=True, **more)',
        "arguments = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]",
        'arguments = TrainingArguments("out", bf16=True, auto_find_batch_size=True)',
        'arguments = TrainingArguments("out", bf16=True)\nother = TrainingArguments("b", bf16=True)',
    ],
)
def test_what_may_be_told_otherwise_is_assumed(checkout: Build, made: str) -> None:
    assert batch(trained(checkout, made)) == ("", "")


def test_what_a_program_says_goes_before_it(checkout: Build) -> None:
    found = trained(checkout, 'arguments = TrainingArguments("out", per_device_train_batch_size=2)')
    assert batch(found)[0] == "2"
