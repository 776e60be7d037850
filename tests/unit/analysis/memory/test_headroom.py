"""A model that is only assumed, on the cards that the run says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = """import sys
from transformers import AutoTokenizer, LlamaForCausalLM

model = LlamaForCausalLM.from_pretrained(sys.argv[1])
{adapters}
loss = model(**batch).loss
loss.backward()
optimizer.step()
"""


def assumed(checkout: Build, launch: str, adapters: str = "") -> tuple[str, int, str]:
    files = {
        "train.py": PROGRAM.replace("{adapters}", adapters),
        "README.md": f"```\n{launch} train.py $MODEL --batch_size 1 --max_length 512\n```\n",
        "requirements.txt": "torch\ntransformers\npeft\n",
    }
    analysis = analyze(checkout(files))
    assert analysis.breakdown is not None
    weights = next(term.basis for term in analysis.breakdown.terms if term.name == "weights")
    gaps = "".join(analysis.not_understood)
    return weights, analysis.spec.hardware.vram_required_gb, gaps


@pytest.mark.parametrize(
    ("launch", "model"),
    [
        ("CUDA_VISIBLE_DEVICES=0 python", "Qwen/Qwen2.5-3B"),
        ("python", "Llama"),  # nothing says how many cards: it is divided over some
    ],
)
def test_on_the_cards_that_are_said_a_smaller_model_is_meant(checkout: Build, launch: str, model: str) -> None:
    weights, memory, gaps = assumed(checkout, launch)
    assert model in weights
    assert memory <= 80
    assert ("fits on no card" in gaps) is (model != "Llama")


def test_adapters_fit_on_the_usual_one(checkout: Build) -> None:
    adapters = "from peft import LoraConfig, get_peft_model\nmodel = get_peft_model(model, LoraConfig(r=8))"
    weights, _, gaps = assumed(checkout, "CUDA_VISIBLE_DEVICES=0 python", adapters)
    assert "Llama" in weights
    assert "fits on no card" not in gaps
