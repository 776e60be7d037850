"""Switches for quantized weights under a comparison with a word that nobody says: they tell what can be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.surest import value_of_best

Build = Callable[[Mapping[str, str]], Checkout]
START = "from load import load\nimport argparse\n{}\nif __name__ == '__main__':\n    load('meta-llama/Llama-2-7b-hf').generate()\n"
LOAD = (
    "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n{}\n"
    "def load(path, config=None):\n    quantized = None\n    {}\n        quantized = BitsAndBytesConfig(load_in_4bit=True)\n"
    "    return AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf', quantization_config=quantized)\n"
)


def bits(checkout: Build, condition: str, *, top: str = "", start: str = "", command: str = "python run.py") -> str:
    files = {
        "run.py": START.format(start),
        "load.py": LOAD.format(top, condition),
        "README.md": f"```\n{command}\n```\n",
    }
    return value_of_best(analyze(checkout(files)).findings, "model.weight_bits") or ""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('if config.dtype == "4bit":', ""),
        ("if config.quant == 'nf4':  # saves memory", ""),
        ("if config is not None:", "4"),
        ('if config.dtype != "16bit":', "4"),
        ("if True:", "4"),
    ],
)
def test_a_word_that_nobody_says_turns_nothing_on(checkout: Build, condition: str, expected: str) -> None:
    assert bits(checkout, condition) == expected


def test_a_word_that_the_program_starts_with_or_is_told_counts(checkout: Build) -> None:
    condition = 'if config.dtype == "4bit":'
    assert bits(checkout, condition, top="dtype = '4bit'") == "4"
    assert bits(checkout, condition, start="def main(dtype='4bit'):\n    pass") == "4"
    assert bits(checkout, condition, top="dtype = '16bit'") == ""
    option = "parser = argparse.ArgumentParser()\nparser.add_argument('--dtype')\nargs = parser.parse_args()"
    assert bits(checkout, condition, start=option, command="python run.py --dtype 4bit") == "4"
    assert bits(checkout, condition, start=option, command="python run.py --dtype fp16") == ""
