"""A guess is told as one; who takes the surest takes the same one."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.told_confidence import as_told

LOW, MEDIUM, HIGH = Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH
GUESSES = frozenset({Evidence("nets/vit.py", 3), Evidence("nets/other.py", 3)})


def finding(field: str, value: str, confidence: Confidence, path: str) -> Finding:
    return Finding(field, value, "it is said", confidence, Evidence(path, 3))


@pytest.mark.parametrize(
    ("field", "confidence", "path", "told"),
    [
        ("model.layers", MEDIUM, "nets/vit.py", LOW),
        ("training.precision", MEDIUM, "train.py", MEDIUM),
        ("training.precision", HIGH, "nets/vit.py", HIGH),
        ("model.id", LOW, "nets/vit.py", LOW),
        ("training.batch_size", MEDIUM, "nets/vit.py", MEDIUM),
        ("workload", MEDIUM, "nets/vit.py", MEDIUM),
    ],
)
def test_only_a_guess_of_what_helpers_have_is_told_as_low(
    field: str, confidence: Confidence, path: str, told: Confidence
) -> None:
    (found,) = as_told([finding(field, "4", confidence, path)], GUESSES)
    assert found.confidence is told
    assert found.value == "4"


def test_the_surest_of_a_field_stays_the_first_to_be_taken() -> None:
    found = (
        finding("model.id", "small", LOW, "README.md"),
        finding("dependencies.requirements", "torch", HIGH, "requirements.txt"),
        finding("model.id", "large", MEDIUM, "nets/vit.py"),
        finding("model.id", "other", MEDIUM, "nets/other.py"),
    )
    told = as_told(found, GUESSES)
    assert [each.value for each in told] == ["large", "torch", "other", "small"]
    surest = max((each for each in told if each.field == "model.id"), key=lambda each: each.confidence)
    assert (
        surest.value
        == max((each for each in found if each.field == "model.id"), key=lambda each: each.confidence).value
    )


def test_nothing_is_moved_without_a_guess() -> None:
    found = tuple(finding("model.id", name, confidence, "a.py") for name, confidence in (("b", LOW), ("a", MEDIUM)))
    assert as_told(found, frozenset()) == found
