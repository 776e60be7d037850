"""What else is known of a documented card."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.stated.marked_statements import of_one_size
from gpu_lol_action.analysis.stated.reconcile import WEIGHT_OF_CARD, Statement
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding


def card(name: str, path: str, gib: float, confidence: Confidence = Confidence.MEDIUM) -> Statement:
    finding = Finding("documented.card", name, "named", confidence, Evidence(path, 3))
    return Statement(gib, True, WEIGHT_OF_CARD, 1, finding)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([card("A100-80GB", "README.md", 79.2)], "A100-80GB"),
        ([card("A100-80GB", "README.md", 79.2), card("A100", "README.md", 39.6)], "A100"),
        ([card("A100-80GB", "README.md", 79.2), card("A100", "notes.md", 39.6, Confidence.LOW)], "A100-80GB"),
        ([card("A100-80GB", "README.md", 79.2, Confidence.LOW)], "A100"),
        ([card("H100", "README.md", 79.0)], "A100"),
    ],
)
def test_a_script_s_card_has_the_size_that_documents_tell_of(told: list[Statement], expected: str) -> None:
    ordered = card("A100", "train.slurm", 39.6, Confidence.HIGH)
    found = of_one_size([*told, ordered])[-1]
    assert (found.finding.value, found.memory_gib > 70) == (expected, expected == "A100-80GB")
