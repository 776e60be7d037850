"""What ``gpu-lol ledger`` prints, whole; no record can act on a terminal or in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_lol_action.render.ledger_csv import RECORD_COLUMNS, VERSION_COLUMNS
from tests.golden.ledger_cases import ledger_texts

GOLDENS = Path(__file__).parent / "ledger"
TEXTS = ledger_texts()


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_output_equals_its_golden(name: str, assert_golden: Callable[[str, str], None]) -> None:
    assert_golden(f"ledger/{name}", TEXTS[name] + "\n")


def test_each_golden_has_a_case() -> None:
    assert {path.name for path in GOLDENS.iterdir()} == set(TEXTS)


@pytest.mark.parametrize("name", sorted(name for name in TEXTS if name.endswith("_hostile.txt")))
def test_hostile_record_stays_text_on_a_terminal(name: str) -> None:
    assert all(character == "\n" or character.isprintable() for character in TEXTS[name])


@pytest.mark.parametrize("name", sorted(name for name in TEXTS if name.endswith(".csv")))
def test_table_has_whole_rows_and_no_formula(name: str) -> None:
    rows = list(csv.reader(io.StringIO(TEXTS[name])))
    assert tuple(rows[0]) in (RECORD_COLUMNS, VERSION_COLUMNS)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    assert len(rows) > 1
