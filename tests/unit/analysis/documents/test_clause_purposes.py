"""Sentences that tell of training and of running a model: which amount and which card is of which."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.clause_purposes import clauses
from gpu_lol_action.analysis.stated.stated_sentences import statements_of
from gpu_lol_action.domain.finding import Evidence

HERE = Evidence("README.md", 1)


def told(line: str, heading: str = "") -> set[tuple[str, str]]:
    return {
        (finding.field.removeprefix("documented."), finding.value)
        for finding in statements_of(line, heading, HERE)
        if finding.field.endswith(("memory_gb", "card"))
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # What an amount is for stands behind it, or before it.
        ("Take a GPU with ≥6 GB VRAM for inference and ≥20 GB VRAM for training.", {("inference.memory_gb", "6"), ("training.memory_gb", "20")}),
        ("Training takes 30 GB of VRAM, inference 9 GB.", {("training.memory_gb", "30"), ("inference.memory_gb", "9")}),
        ("Training needs 24 GB of VRAM, or 16 GB of VRAM with checkpointing; inference needs 8 GB of VRAM.", {("training.memory_gb", "24"), ("training.memory_gb", "16"), ("inference.memory_gb", "8")}),
        # Cards, too, also one in brackets that is of what stands before them.
        ("We trained on 8 A100 GPUs and run inference on one RTX 3090.", {("training.card", "A100"), ("inference.card", "RTX3090")}),
        ("It needs a GPU with 7 GB VRAM for inference (a GTX 1660 was enough); an H100 was used for training.", {("inference.memory_gb", "7"), ("inference.card", "GTX1660"), ("training.card", "H100")}),
        # In brackets another purpose.
        ("- 8GB GPU VRAM required (24GB VRAM for training)", {("memory_gb", "8"), ("training.memory_gb", "24")}),
        # One amount for both is of neither alone.
        ("A GPU with 24 GB of VRAM is needed for training and inference.", {("memory_gb", "24")}),
        ("For training and inference you need 24 GB of VRAM, or 12 GB of VRAM on two cards.", {("memory_gb", "24"), ("memory_gb", "12")}),
    ],
)  # fmt: skip
def test_an_amount_is_for_what_its_part_of_the_sentence_says(line: str, expected: set[tuple[str, str]]) -> None:
    assert told(line) == expected


def test_what_one_sentence_says_of_its_amount_does_not_hold_for_the_next_ones() -> None:
    line = "A GPU with 10 GB VRAM is needed. We recommend 32 GB VRAM for training."
    assert told(line) == {("memory_gb", "10"), ("training.memory_gb", "32")}
    assert told(line, "Inference") == {("inference.memory_gb", "10"), ("training.memory_gb", "32")}
    # Where no other amount is told, the line's word holds for its amount.
    assert told("Training was done on our data. It needs 32 GB of VRAM.") == {("training.memory_gb", "32")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "I trained the model on 8 A100 GPUs for 11 hours (at least 24GB GPU memory). The generated images follow the layout after 50k iterations.",
            {("training.memory_gb", "24"), ("training.card", "A100")},
        ),
        ("Inference needs 12 GB VRAM. We trained it for three days.", {("inference.memory_gb", "12")}),
        ("Inference needs (e.g. A100) 40 GB VRAM. We trained it for three days.", {("inference.card", "A100"), ("inference.memory_gb", "40")}),
    ],
)  # fmt: skip
def test_another_sentence_of_the_line_does_not_say_what_one_is_for(line: str, expected: set[tuple[str, str]]) -> None:
    assert expected <= told(line)
    assert {kind for kind, _ in told(line)} <= {kind for kind, _ in expected} | {"gpu_count"}


@pytest.mark.parametrize("line", ["", "training and inference", "24 GB for training", "Train it, then run inference."])
def test_a_sentence_that_says_one_thing_stays_whole(line: str) -> None:
    assert [clause.text for clause in clauses(line)] == [line]


def test_the_parts_are_the_sentence() -> None:
    line = "16GB for inference (with int8), 40GB for LoRA; A100 or H100 for fine-tuning."
    parts = clauses(line)
    assert "".join(part.text for part in parts) == line
    assert [line[part.begin :].startswith(part.text) for part in parts] == [True] * len(parts)
