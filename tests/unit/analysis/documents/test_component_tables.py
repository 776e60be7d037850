"""Tables of a machine's parts: what they say of the card counts, what they say of disk and main memory does not."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build

PARTS = """# Net
## Requirements
| Component | Minimum | Recommended |
|---|---|---|
| {name} | {least} | {better} |
| **RAM** | 32 GB | 64 GB |
| Storage | 50 GB free | 100 GB |
"""


def told(checkout: Build, text: str) -> list[tuple[str, str]]:
    found = documented.detect(checkout({"README.md": text}), None)
    return [(f.field.removeprefix("documented."), f.value) for f in found if f.confidence >= Confidence.MEDIUM]


@pytest.mark.parametrize(
    ("name", "least", "better", "expected"),
    [
        ("**GPU**", "1x NVIDIA GPU (12GB VRAM)", "a GPU with 20 GB VRAM", [("memory_gb", "12"), ("memory_gb", "20")]),
        ("Graphics card", "RTX 3060 (12GB)", "RTX 4090", [("card", "RTX3060"), ("card", "RTX4090")]),
        ("VRAM", "10 GB", "24 GB", [("memory_gb", "10"), ("memory_gb", "24")]),
        ("GPU memory", "10GB+", "24GB+", [("memory_gb", "10"), ("memory_gb", "24")]),
        ("GPU", "2x A100 80GB", "-", [("card", "A100-80GB"), ("gpu_count", "2")]),
        ("显卡", "8GB 显存", "16GB 显存", [("memory_gb", "8"), ("memory_gb", "16")]),
        ("GPU", "optional", "any", []),
        ("CPU", "8 cores", "16 cores", []),
    ],
)
def test_only_the_card_s_row_speaks_of_the_card(
    checkout: Build, name: str, least: str, better: str, expected: list[tuple[str, str]]
) -> None:
    assert told(checkout, PARTS.format(name=name, least=least, better=better)) == expected


def test_what_is_asked_for_is_demanded_and_a_setting_is_what_was_used(checkout: Build) -> None:
    asked = documented.detect(checkout({"README.md": PARTS.format(name="GPU", least="12GB VRAM", better="-")}), None)
    assert [f.confidence for f in asked if f.field == "documented.memory_gb"] == [Confidence.HIGH]
    setting = (
        "# Net\n## Environment\n| Item | Value |\n|---|---|\n| GPU | RTX 3090 |\n| CUDA | 12.1 |\n| Python | 3.10 |\n"
    )
    used = documented.detect(checkout({"README.md": setting}), None)
    assert [(f.value, f.confidence) for f in used if f.field == "documented.card"] == [("RTX3090", Confidence.MEDIUM)]


def test_a_table_of_models_is_no_table_of_parts(checkout: Build) -> None:
    models = "# Net\n## GPU memory\n| Model | VRAM |\n|---|---|\n| small | 11 GB |\n| large | 23 GB |\n"
    assert told(checkout, models) == [("memory_gb", "11"), ("memory_gb", "23")]


def test_a_cell_that_is_a_sentence_says_what_it_says(checkout: Build) -> None:
    table = (
        "# Net\n| Part | Result |\n|---|---|\n| Training run | 72 hours of play on a single H100 |\n| Score | 0.4 |\n"
    )
    assert told(checkout, table) == [("training.card", "H100"), ("gpu_count", "1")]
    # Of a table with more columns nobody knows what a cell is of.
    wide = "# Net\n| A | B | C | D |\n|---|---|---|---|\n| x | y | z | trained on a single H100 for 72 hours |\n"
    assert told(checkout, wide) == []
