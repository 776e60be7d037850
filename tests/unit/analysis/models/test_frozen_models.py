"""Programs that freeze their language model and train what lies beside it; those that only could, train it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = (
    "import torch\nfrom transformers import AutoModelForCausalLM\n"
    "class Talker(torch.nn.Module):\n"
    "    def __init__(self, args):\n"
    "        super().__init__()\n"
    "        self.llm = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b')\n"
    "        self.projection = torch.nn.Linear(1024, 4096)\n"
    "{freezes}\n"
)
TRAIN = (
    "import argparse\nimport torch\nfrom talker import Talker\n"
    "if __name__ == '__main__':\n"
    "    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--freeze_llm', type=bool, default={default})\n"
    "    parser.add_argument('--batch_size', type=int, default=8)\n"
    "    args = parser.parse_args()\n"
    "    model = Talker(args).cuda()\n    loss.backward()\n    optimizer.step()\n"
)
BY_HAND = "        for param in self.llm.parameters():\n            param.requires_grad = False\n"
BY_NAME = (
    "        for name, param in self.llm.named_parameters():  # not this one\n            param.requires_grad = False\n"
)
AT_ONCE = "        self.llm.requires_grad_(False)\n"
GUARDED = "        if args.freeze_llm:\n            for param in self.llm.parameters():\n                param.requires_grad = False\n"
UNKNOWN = "        if stage == 2 and not is_last:\n            self.llm.requires_grad_(False)\n"
ELSE = "        if args.freeze_llm:\n            pass\n        else:\n            self.llm.requires_grad_(False)\n"
TOWER = "        for param in self.vision.parameters():\n            param.requires_grad = False\n"


def method(checkout: Build, freezes: str, default: str = "True") -> str:
    files = {
        "talker.py": MODEL.format(freezes=freezes),
        "train.py": TRAIN.format(default=default),
        "requirements.txt": "torch\ntransformers\n",
    }
    breakdown = analyze(checkout(files)).breakdown
    assert breakdown is not None
    return breakdown.method


@pytest.mark.parametrize("freezes", [BY_HAND, BY_NAME, AT_ONCE, GUARDED])
def test_a_frozen_language_model_has_no_states_of_its_own(checkout: Build, freezes: str) -> None:
    assert method(checkout, freezes) == "lora"


@pytest.mark.parametrize("freezes", [UNKNOWN, ELSE, TOWER, ""])
def test_what_may_not_be_reached_or_is_another_part_freezes_nothing(checkout: Build, freezes: str) -> None:
    assert method(checkout, freezes) == "full"


def test_a_switch_that_is_off_freezes_nothing(checkout: Build) -> None:
    assert method(checkout, GUARDED, default="False") == "full"


def test_the_whole_model_but_some_parts(checkout: Build) -> None:
    whole = (
        "def build(model):\n    model.requires_grad_(False)\n    # the parts that learn\n"
        "    model.perceiver.requires_grad_(True)\n"
    )
    assert method(checkout, f"\n{whole}") == "lora"
    assert method(checkout, "\ndef build(model):\n    model.requires_grad_(False)\n") == "full"


@pytest.mark.parametrize(
    ("option", "method"),
    [
        ("--tune_mm_mlp_adapter True", "lora"),
        ("--version v1 --tune_graph_mlp_adapter True", "lora"),
        ("--freeze_llm True", "lora"),
        ("--freeze_llm False", "full"),
        ("--freeze_backbone True", "full"),
    ],
)
def test_a_switch_of_the_command_freezes_the_language_model(checkout: Build, option: str, method: str) -> None:
    train = (
        "import torch\nfrom transformers import AutoModelForCausalLM, Trainer\n"
        "if __name__ == '__main__':\n    model = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b').cuda()\n    Trainer(model).train()\n"
    )
    files = {"README.md": f"```\npython train.py {option} --num_train_epochs 1\n```\n", "train.py": train}
    assert [f.value for f in analyze(checkout(files)).findings if f.field == "training.method"][:1] == [method]


@pytest.mark.parametrize(("trainer", "expected"), [("SAETrainingRunner", "lora"), ("SomeTrainer", "full")])
def test_a_trainer_of_sparse_autoencoders_leaves_the_language_model_as_it_is(
    checkout: Build, trainer: str, expected: str
) -> None:
    program = (
        f"import torch\nfrom autoencoders import {trainer}\nfrom transformers import AutoModelForCausalLM\n"
        "model = AutoModelForCausalLM.from_pretrained('facebook/opt-6.7b').cuda()\n"
        f"{trainer}(model, batch_size=8).run()\nloss.backward()\noptimizer.step()\n"
    )
    breakdown = analyze(checkout({"train.py": program, "requirements.txt": "torch\ntransformers\n"})).breakdown
    assert breakdown is not None
    assert breakdown.method == expected
