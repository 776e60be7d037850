"""Functions that only switched-off branches call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.dead_functions import dead_functions

Build = Callable[[Mapping[str, str]], Checkout]
METHOD = """class Trainer:
    def __init__(self, kind):
        if kind == "lora":
            self.put_on(model)
        else:
            model.requires_grad_(True)

    def put_on(
        self, model
    ):
        config = LoraConfig(r=4)

        return inject(config, model)

    def step(self):
        pass
"""


def test_a_method_that_only_a_dead_block_calls_is_dead_to_its_end() -> None:
    assert dead_functions(METHOD, [range(4, 5)]) == [range(9, 15)]


@pytest.mark.parametrize(
    "more",
    [
        "    def other(self):\n        self.put_on(model)\n",  # somebody else calls it
        "    hook = put_on\n",  # or hands it on
        "class Other:\n    def put_on(self):\n        pass\n",  # which of two is meant is not known
    ],
)
def test_what_is_named_anywhere_else_is_reached(more: str) -> None:
    assert dead_functions(METHOD + more, [range(4, 5)]) == []


def test_a_function_of_a_module_may_be_called_from_other_files() -> None:
    text = "def put_on(model):\n    return LoraConfig(r=4)\n\ndef main(kind):\n    if kind == 'lora':\n        put_on(model)\n"
    assert dead_functions(text, [range(6, 7)]) == []
    assert dead_functions(text + "\nif __name__ == '__main__':\n    main('full')\n", [range(6, 7)]) == [range(2, 4)]


def test_nothing_is_dead_without_dead_blocks() -> None:
    assert dead_functions(METHOD, []) == []


@pytest.mark.parametrize(("option", "method"), [("full", "full"), ("lora", "lora")])
def test_adapters_that_a_method_puts_on_count_where_the_option_asks_for_them(
    checkout: Build, option: str, method: str
) -> None:
    code = f"""import argparse
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

{METHOD.replace("LoraConfig(r=4)", "get_peft_model(model, LoraConfig(r=4))")}
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="lora")
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
trainer = Trainer(kind=args.kind)
loss.backward()
optimizer.step()
"""
    readme = f"```\npython train.py --kind {option} --batch_size 1\n```\n"
    analysis = analyze(checkout({"train.py": code, "README.md": readme, "requirements.txt": "torch\npeft\n"}))
    assert analysis.breakdown is not None
    assert analysis.breakdown.method == method
