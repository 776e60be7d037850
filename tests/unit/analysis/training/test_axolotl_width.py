"""How wide axolotl loads a model: `bf16` is on unless it is said to be off, and then something else may still ask for 16 bit."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

CONFIG = """\
base_model: mistralai/Mistral-7B-v0.1
datasets:
  - path: tatsu-lab/alpaca
adapter: lora
lora_r: 8
sequence_len: 2048
micro_batch_size: 1
gradient_checkpointing: true
{width}
"""


@pytest.mark.parametrize(
    ("width", "precision", "least_gib"),
    [
        ("bf16: auto", None, 0),
        ("bf16: false", "fp32", 26),
        ("bf16: false\nfp16: true", "fp16", 0),
        ("bf16: false\nload_in_8bit: true", None, 0),
        ("tf32: false", None, 0),
    ],
)
def test_bf16_that_is_off_is_32_bit_unless_something_else_is_on(
    checkout: Build, width: str, precision: str | None, least_gib: int
) -> None:
    found = analyze(checkout({"lora.yml": CONFIG.format(width=width)}))
    said = value_of_best(found.findings, "training.precision")
    assert said == precision or (precision is None and said != "fp32")
    assert found.breakdown is not None
    weights = next(term.gib for term in found.breakdown.terms if term.name == "weights")
    assert weights > least_gib if least_gib else weights < 14
