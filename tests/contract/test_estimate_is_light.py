"""``gpu-lol estimate`` as a program of its own: no network, no SkyPilot, and the rows of the published table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Run before the command: any socket is an error, and what was imported is told at the end.
GUARDED = """
import socket, sys
def refuse(*_args, **_kwargs):
    raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = refuse
from gpu_lol_action import cli
code = cli.main(sys.argv[1:])
heavy = sorted({name.partition(".")[0] for name in sys.modules} & {"sky", "github", "httpx", "requests"})
print("imported:", ",".join(heavy), file=sys.stderr)
sys.exit(code)
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", GUARDED, "estimate", *words],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_one_run_needs_neither_network_nor_skypilot() -> None:
    ran = run("--model", "Qwen/Qwen2.5-7B", "--method", "lora")
    assert ran.returncode == 0
    assert "fits on" in ran.stdout
    assert ran.stderr.strip() == "imported:"


def test_the_published_table_is_answered_row_by_row() -> None:
    points = ROOT / "benchmarks" / "data" / "vram_points.csv"
    ran = run("--csv", str(points))
    assert ran.returncode == 0
    assert ran.stderr.strip() == "imported:"
    assert len(ran.stdout.splitlines()) == len(points.read_text(encoding="utf-8").splitlines())
    assert "\n\n" not in ran.stdout


def test_a_model_that_nobody_knows_ends_with_1_and_its_fix() -> None:
    ran = run("--model", "somebody/something")
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "gpu-lol estimate --params-b" in ran.stderr
