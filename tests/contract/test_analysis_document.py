"""docs/analysis.md quotes rules and figures: they are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_lol_action.analysis import checkout, memory_need, memory_question, reconcile

PAGE = (Path(__file__).parents[2] / "docs" / "analysis.md").read_text(encoding="utf-8")
FLAT = " ".join(PAGE.split())


@pytest.mark.docs
def test_weights_and_distances_are_those_that_are_used() -> None:
    weights = re.findall(r"\| ([\d.]+)(?:, and never more than that card has)? \|\n", PAGE)
    assert [float(weight) for weight in weights] == [
        reconcile.WEIGHT_OF_MEMORY,
        reconcile.WEIGHT_OF_CARD,
        reconcile.WEIGHT_OF_DEMANDED_CARD,
        reconcile.WEIGHT_OF_REMARK,
        reconcile.WEIGHT_OVER_ROUGH,
    ]
    assert reconcile.WEIGHT_OF_REMARK == reconcile.WEIGHT_OF_NAMED_CARD
    assert f"a factor of {reconcile.FURTHEST:g} ({reconcile.FURTHEST_FROM_ROUGH:g} where" in FLAT
    assert f"{reconcile.FURTHEST_CARD_FROM_ROUGH:g} for a used card where the sum is rough" in FLAT
    assert reconcile.FURTHEST_FROM_ROUGH == reconcile.FURTHEST_CARD


@pytest.mark.docs
def test_assumptions_are_those_that_are_made() -> None:
    said = f"batch {memory_question.DEFAULT_BATCH}, {memory_question.DEFAULT_TRAINING_LENGTH} tokens in training, "
    assert f"{said}{memory_question.DEFAULT_INFERENCE_LENGTH} in inference" in FLAT
    assert f"it is {memory_need.DEFAULT_GIB} GiB, with low confidence" in FLAT


@pytest.mark.docs
def test_limits_are_those_of_the_reader() -> None:
    assert f"At most {checkout.MAX_FILES:,} files and {checkout.MAX_TOTAL_BYTES >> 20} MiB are read" in FLAT
    assert (
        f"{checkout.MAX_FILE_BYTES >> 10} KiB of each ({checkout.MAX_NOTEBOOK_BYTES >> 20} MiB of a notebook)" in FLAT
    )
    assert f"{checkout.MAX_DEPTH} folders deep" in FLAT
