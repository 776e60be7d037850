"""Options that a program starts with nothing and that nobody gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.unset_options import unset_options

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = """import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument(
    "-p", "--peft", type=str, default=None, help="adapters (all weights are trained without)"
)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
if args.peft is not None:
    model = get_peft_model(model, LoraConfig(r=8))
loss.backward()
optimizer.step()
"""


def unset(checkout: Build, option: str, more: str = "") -> frozenset[str]:
    text = f"parser.add_argument({option})\n{more}"
    tree = checkout({"train.py": f"import argparse\nimport torch\nparser = argparse.ArgumentParser()\n{text}"})
    source = tree.find_named("train.py")
    assert source is not None
    return unset_options([source])


@pytest.mark.parametrize(
    "option",
    ['"--peft"', '"--peft", default=None', '"-p", "--peft", type=int'],
)
def test_an_option_without_a_default_stays_nothing(checkout: Build, option: str) -> None:
    assert unset(checkout, option) == {"peft"}


@pytest.mark.parametrize(
    "option",
    [
        '"--peft", default="lora"',
        '"--peft", action="store_true"',
        '"--peft", required=True',
        '"--layers", nargs="+"',
        '"peft"',  # what stands at a place has to be given
        '"--model_name"',  # whoever starts it fills it in
        '"--resume"',
    ],
)
def test_what_is_given_or_filled_in_is_not_nothing(checkout: Build, option: str) -> None:
    assert unset(checkout, option) == frozenset()


@pytest.mark.parametrize(
    "more",
    [
        'args.peft = "lora"\n',
        "vars(args).update(load('config.yaml'))\n",
        "args.__dict__[key] = value\n",
        "setattr(args, key, value)\n",
        "parser.set_defaults(peft='lora')\n",
    ],
)
def test_what_the_program_sets_itself_is_not_nothing(checkout: Build, more: str) -> None:
    assert unset(checkout, '"--peft"', more) == frozenset()


@pytest.mark.parametrize("more", ["print(vars(args))\n", "if args.peft == 'lora':\n    pass\n"])
def test_what_only_asks_sets_nothing(checkout: Build, more: str) -> None:
    assert unset(checkout, '"--peft"', more) == {"peft"}


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("python train.py --lr 1e-4", "full"),
        ("python train.py --lr 1e-4 --peft lora", "lora"),
        ("python train.py", "lora"),  # which options it takes is left open
    ],
)
def test_adapters_behind_an_option_that_nobody_gives_are_not_put_on(checkout: Build, command: str, method: str) -> None:
    files = {"train.py": PROGRAM, "README.md": f"```\n{command}\n```\n", "requirements.txt": "torch\npeft\n"}
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    assert breakdown.method == method
