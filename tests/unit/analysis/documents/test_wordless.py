"""Transformers over series have no vocabulary; those whose programs speak of words have the usual one."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from tests.unit.analysis.conftest import Build

SERIES = """
import torch
from ours import Net
model = Net(d_model=384, num_layers=6, num_heads=6).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for series in load(batch_size=64):
    model(series).loss.backward()
    optimizer.step()
"""
WORDS = "def forecast(series):\n    return series\ndef count(text):\n    return {word: number for number, word in enumerate(vocabulary(text))}\n"


def kept(tree: Checkout) -> set[str]:
    return {finding.field for finding in analyze(tree).findings} & {"model.layers", "model.wordless"}


@pytest.mark.parametrize(
    ("helper", "is_wordless"),
    [("def forecast(series):\n    return series\n", True), ("def mean(a):\n    return a\n", False), (WORDS, False)],
)
def test_only_where_no_program_speaks_of_words(checkout: Build, helper: str, is_wordless: bool) -> None:
    tree = checkout({"train.py": SERIES, "ours/__init__.py": "", "ours/helper.py": helper})
    assert kept(tree) == {"model.layers", *({"model.wordless"} if is_wordless else ())}
    breakdown = analyze(tree).breakdown
    assert breakdown is not None
    assert any(term.name == "logits" for term in breakdown.terms) is not is_wordless
