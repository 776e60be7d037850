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
        [sys.executable, "benchmarks/vram_accuracy.py"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ran.stdout


@pytest.mark.docs
def test_document_shows_what_the_benchmark_prints(table: str) -> None:
    assert table in (ROOT / "docs/vram-model.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("method", "most"), [("inference", 12), ("lora", 20), ("qlora", 20), ("full", 26)])
def test_mean_error_stays_where_the_physics_was(table: str, method: str, most: int) -> None:
    row = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
    assert int(row.split("|")[3].strip().rstrip("%")) <= most
