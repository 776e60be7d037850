"""Numbers of a configuration that stand once for training and once for testing: the one that trains is the run's."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form, Role


def said(text: str, key: str) -> list[tuple[str, int]]:
    source = Source("voc.yaml", Form.YAML, Role.WORKLOAD, text)
    return [(setting.text, setting.evidence.line) for setting in read_settings(source) if setting.key == key]


@pytest.mark.parametrize("other", ["TEST", "val", "Eval"])
def test_the_number_that_trains_stands_under_the_key_above(other: str) -> None:
    assert said(f"SOLVER:\n  BATCH_SIZE:\n    TRAIN: 5\n    {other}: 1\n  ITER: 9\n", "batch_size") == [("5", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "batch_size:\n  train: 5\n",  # a section of its own, of which nobody knows what it is
        "data:\n  train: a/b\n  test: c/d\n",
        "train: 5\ntest: 1\n",
        "batch_size: 3\nother:\n  train: 5\n  steps: 1\n",
    ],
)
def test_what_is_no_such_pair_is_left_as_it_is(text: str) -> None:
    assert {text for text, _ in said(text, "batch_size")} <= {"3"}
    assert said(text, "data") == said(text, "other") == []


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("model:\n  lora:\n    enabled: false\n    rank: 8\n", []),
        ("model:\n  lora:\n    enabled: False\n    inner:\n      rank: 8\n", []),
        ("model:\n  lora:\n    enabled: true\n    rank: 8\n", [("8", 4)]),
        ("model:\n  lora:\n    rank: 8\n  other:\n    enabled: false\n", [("8", 3)]),
        ("enabled: false\nrank: 8\n", [("8", 2)]),  # of the whole file it says nothing
        ("parts:\n  - enabled: false\n    rank: 8\n  - enabled: true\n    rank: 4\n", [("8", 3), ("4", 5)]),
    ],
)
def test_what_a_section_says_that_is_off_does_not_hold(text: str, rank: list[tuple[str, int]]) -> None:
    assert said(text, "rank") == rank
