"""`make live`: what it writes into docs/clouds.md, and that it never spends where it should not. Its steps run on the loopback."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIVE = ROOT / "scripts" / "live"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(LIVE))
    yield importlib.import_module("report")
    for name in ("report", "steps", "player", "provider"):
        sys.modules.pop(name, None)


def test_a_run_dates_the_row_of_its_cloud_and_keeps_what_was_seen(report: ModuleType) -> None:
    rows = [
        report.Row("up", "a machine is rented", True, "RTX2000-Ada launched; set-up 31 s", 182.0),
        report.Row("pod-key", "what the pod's own key may ask", None, '{"data": "a|b"}', 1.0),
        report.Row("sweeper", "the sweeper ends it", False, "ran on", 600.0),
    ]
    page = (ROOT / "docs" / "clouds.md").read_text(encoding="utf-8")
    dated = report.dated(page, "runpod", rows, date(2026, 12, 1))
    (row,) = re.findall(r"^\| RunPod \| `runpod-api-key`.*$", dated, re.MULTILINE)
    assert "2026-12-01 live: 2 of 3 steps as expected" in row
    assert "Nothing here has met a real account yet" not in dated
    assert "| the sweeper ends it | **no** | ran on | 600 s |" in dated
    assert "a/b" in dated, "what was seen cannot break the table"
    again = report.dated(dated, "runpod", rows[:1], date(2026, 12, 9))
    assert again.count("## Live on RunPod") == 1
    assert "2026-12-01" not in again
    assert len(re.findall(r"^\| RunPod \|", again, re.MULTILINE)) == len(
        re.findall(r"^\| RunPod \|", page, re.MULTILINE)
    )


def test_without_a_key_nothing_is_started(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(LIVE), "--cloud", "runpod"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "RUNPOD_API_KEY is not set" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_in_no_repr(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, report: ModuleType) -> None:
    player, provider = importlib.import_module("player"), importlib.import_module("provider")
    someone = player.Player(tmp_path, provider.RunPod("rpa_secret"), {"RUNPOD_API_KEY": "rpa_secret"})
    assert "rpa_secret" not in repr(someone)
    assert someone.environment["HOME"] == str(tmp_path / "home")


def test_each_layer_that_the_page_names_as_untried_has_a_step(report: ModuleType) -> None:
    steps = importlib.import_module("steps")
    names = [step.name for step in steps.STEPS]
    quick = ["wrong-key", "up", "log-in", "use", "snapshot", "pod-key", "down", "resume"]
    assert names == [*quick, "ends-itself", "sweeper", "killed"]
    page = (ROOT / "docs" / "clouds.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`make live` \(([a-z, -]+)\)", page.replace("\n", " "))) != set()
    tried = {
        name
        for found in re.findall(r"`make live` \(([a-z, -]+)\)", page.replace("\n", " "))
        for name in found.split(", ")
    }
    assert tried <= set(names)
