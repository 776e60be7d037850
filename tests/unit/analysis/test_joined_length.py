"""A question and its answer lie in one sequence, except for encoders with decoders."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.formats.surest import value_of_best
from tests.unit.analysis.conftest import Build

README = "# Tune\n\n```\npython train.py --max_source_length 128 --max_target_length 256\n```\n"


@pytest.mark.parametrize(("kind", "tokens"), [("CausalLM", "384"), ("Seq2SeqLM", "128")])
def test_a_decoder_reads_both_at_once(checkout: Build, kind: str, tokens: str) -> None:
    code = f"""
import argparse
from transformers import AutoModelFor{kind}

parser = argparse.ArgumentParser()
parser.add_argument("--max_source_length", type=int, default=64)
parser.add_argument("--max_target_length", type=int, default=64)
args = parser.parse_args()
model = AutoModelFor{kind}.from_pretrained("somebody/thing-1b").cuda()
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
"""
    tree = checkout({"README.md": README, "train.py": code})
    assert value_of_best(analyze(tree).findings, "training.sequence_length") == tokens
