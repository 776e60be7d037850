"""Models that a program starts with so that it can be tried: where an option has its name, and not the call that loads it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build

TRAIN = """
import argparse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
{above}
def main({parameter}):
    model = AutoModelForCausalLM.from_pretrained({name})
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=4, bf16=True)).train()
if __name__ == "__main__":
    main()
"""
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--model", default="facebook/opt-125m")
args = parser.parse_args()
"""
SERVED = "from vllm import LLM\nllm = LLM(model='facebook/opt-125m')\nprint(llm.generate(['a']))\n"


@pytest.mark.parametrize(
    ("above", "parameter", "name", "is_meant"),
    [
        ("", "", '"facebook/opt-125m"', True),
        ('MODEL = "facebook/opt-125m"', "", "MODEL", True),
        (OPTION, "", "args.model", False),
        ("", 'model="facebook/opt-125m"', "model", False),
        # An option of the same name as a constant is an option.
        (OPTION + 'model = "facebook/opt-125m"', "", "args.model", False),
    ],
)
def test_a_small_model_is_meant_where_its_call_or_a_constant_names_it(
    checkout: Build, above: str, parameter: str, name: str, is_meant: bool
) -> None:
    program = TRAIN.format(above=above, parameter=parameter, name=name)
    found = analyze(checkout({"train.py": program, "requirements.txt": "torch\ntransformers\n"}))
    named = {each.value for each in found.findings if each.field == "model.id"}
    assert ("facebook/opt-125m" in named) is is_meant
    assert found.breakdown is not None
    assert (found.breakdown.required_gib < 12) is is_meant


def test_a_small_model_that_is_served_by_its_name_is_meant(checkout: Build) -> None:
    found = analyze(checkout({"serve.py": SERVED, "requirements.txt": "vllm\n"}))
    assert any(each.value == "facebook/opt-125m" for each in found.findings if each.field == "model.id")
