from __future__ import annotations

from collections.abc import Callable

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[dict[str, str]], Checkout]
TRAIN = "from transformers import AutoModelForCausalLM, Trainer\nm = AutoModelForCausalLM.from_pretrained('gpt2')\nTrainer(model=m).train()\n"


def said(tree: Checkout) -> list[tuple[str, str, str]]:
    found = analyze(tree).findings
    found = [f for f in analyze(tree).findings if f.field.startswith("documented.")]
    return [(f.field, f.value, str(f.evidence)) for f in found if ".dstack." in f.evidence.path]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("  gpu: 16GB..24GB", [("documented.memory_gb", "16")]),
        ('  gpu: "24GB:2"  # two', [("documented.memory_gb", "24"), ("documented.gpu_count", "2")]),
        ("  gpu: A100:80GB:8", [("documented.card", "A100-80GB"), ("documented.gpu_count", "8")]),
        ("  gpu: H100", [("documented.card", "H100")]),
        ("  gpu:\n    name: A100\n    memory: 80GB\n    count: 4\n  disk: 100GB", [("documented.card", "A100-80GB"), ("documented.gpu_count", "4")]),
        ("  gpu:\n    memory: 40GB..", [("documented.memory_gb", "40")]),
        ("  gpu: $(reboot)", []),
        ("  gpu: nothing-known", []),
    ],
)  # fmt: skip
def test_each_form_of_an_order_is_read(checkout: Build, order: str, expected: list[tuple[str, str]]) -> None:
    tree = checkout({"train.py": TRAIN, ".dstack.yml": f"type: task\nresources:\n{order}\n"})
    assert said(tree) == [(*pair, ".dstack.yml:3") for pair in expected]


def test_only_configurations_beside_or_above_the_program_count(checkout: Build) -> None:
    order = "resources:\n  gpu: 80GB\n"
    tree = checkout(
        {"train.py": TRAIN, "other/serve.dstack.yml": order, "train.dstack.yaml": order.replace("80", "24")}
    )
    assert said(tree) == [("documented.memory_gb", "24", "train.dstack.yaml:2")]
