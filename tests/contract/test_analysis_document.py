"""docs/analysis.md and its references quote rules and figures: they are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files import checkout, tree_size
from gpu_lol_action.analysis.media import open_sizes
from gpu_lol_action.analysis.memory import memory_question
from gpu_lol_action.analysis.stated import reconcile
from gpu_lol_action.domain import card_sizes

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "analysis.md").read_text(encoding="utf-8")
WEIGHED = (DOCS / "analysis-documentation.md").read_text(encoding="utf-8")
FLAT = " ".join(PAGE.split())
MOST_WORDS = 1_300  # what one reads in three to five minutes


@pytest.mark.docs
def test_weights_and_distances_are_those_that_are_used() -> None:
    weights = re.findall(r"\| ([\d.]+)(?:, and never more than that card has)? \|\n", WEIGHED)
    assert [float(weight) for weight in weights] == [
        reconcile.WEIGHT_OF_MEMORY,
        reconcile.WEIGHT_OF_CARD,
        reconcile.WEIGHT_OF_DEMANDED_CARD,
        reconcile.WEIGHT_OF_REMARK,
        reconcile.WEIGHT_OVER_ROUGH,
    ]
    assert reconcile.WEIGHT_OF_REMARK == reconcile.WEIGHT_OF_NAMED_CARD
    said = " ".join(WEIGHED.split())
    assert f"a factor of {reconcile.FURTHEST:g} ({reconcile.FURTHEST_FROM_ROUGH:g} where" in said
    assert f"{reconcile.FURTHEST_CARD_FROM_ROUGH:g} for a used card where the sum is rough" in said
    assert reconcile.FURTHEST_FROM_ROUGH == reconcile.FURTHEST_CARD


@pytest.mark.docs
def test_assumptions_are_those_that_are_made() -> None:
    said = f"batch {memory_question.DEFAULT_BATCH}, {memory_question.DEFAULT_TRAINING_LENGTH} tokens in training, "
    assert f"{said}{memory_question.DEFAULT_INFERENCE_LENGTH} in inference" in FLAT
    assert f"it is {open_sizes.DEFAULT_GIB} GiB, {open_sizes.ADAPTED_GIB} where adapters are trained" in FLAT
    assert f"in a project of five programs or more {open_sizes.PROJECT_GIB}, all of a card of 16 GB" in FLAT
    assert f"of ten or more {card_sizes.ORDINARY_GIB}, all of one of 24" in FLAT
    assert (tree_size.LEAST_OF_A_PROJECT, open_sizes.LARGE_PROJECT) == (5, 10)
    assert (
        f"adapters on one card whose batch nothing says are given one that {card_sizes.ORDINARY_GIB} GiB hold" in FLAT
    )
    assert f"{open_sizes.DIVIDED_GIB} where there is but a layout over cards" in FLAT


@pytest.mark.docs
def test_limits_are_those_of_the_reader() -> None:
    assert f"At most {checkout.MAX_FILES:,} files and {checkout.MAX_TOTAL_BYTES >> 20} MiB are read" in FLAT
    assert (
        f"{checkout.MAX_FILE_BYTES >> 10} KiB of each ({checkout.MAX_NOTEBOOK_BYTES >> 20} MiB of a notebook)" in FLAT
    )
    assert f"{checkout.MAX_DEPTH} folders deep" in FLAT


@pytest.mark.docs
def test_page_can_be_read_in_the_minutes_that_its_title_promises() -> None:
    assert len(FLAT.split()) <= MOST_WORDS
