"""The memory model's document against its benchmark, and the benchmark against floors that a change must not fall below."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def table() -> str:
    ran = subprocess.run(
        [sys.executable, "benchmarks/vram.py"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ran.stdout


@pytest.mark.docs
def test_document_shows_what_the_benchmark_prints(table: str) -> None:
    assert table in (ROOT / "docs/vram-model.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("method", "most"), [("inference", 10), ("lora", 15), ("qlora", 20), ("full_ft", 22)])
def test_mean_error_stays_where_the_physics_was(table: str, method: str, most: int) -> None:
    assert float(_cells(table, method)[2].rstrip("%")) <= most


def test_every_published_figure_is_scored_and_few_exceed_the_range(table: str) -> None:
    rows = (ROOT / "benchmarks/data/vram_points.csv").read_text(encoding="utf-8").strip().count("\n")
    cells = _cells(table, "all")
    assert int(cells[1]) == rows
    assert int(cells[4].split()[0]) <= 0.05 * rows


def _cells(table: str, method: str) -> list[str]:
    row = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]
