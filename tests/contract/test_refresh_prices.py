"""The command that refreshes the price snapshot: what it shows, what it writes, and that the program can read it."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from gpu_lol_action.pricing.price_rows import offer_of
from gpu_lol_action.pricing.snapshot import snapshot_row
from tests.support.web import Said, Web

ROOT = Path(__file__).resolve().parents[2]
HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
CATALOG = f"""{HEADER}
1x_A40_SECURE,A40,1.0,9.0,48.0,US,0.50,0.50,US-1,
1x_A40_SECURE,A40,1.0,9.0,48.0,CA,0.49,0.49,CA-1,
1x_L4_SECURE,L4,1.0,12.0,50.0,US,0.39,0.39,US-1,
1x_TOMORROW_SECURE,TOMORROW,1.0,12.0,50.0,US,9.99,9.99,US-1,
cpu3c,,,4.0,8.0,US,0.1,0.1,US-1,
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("refresh_prices", str(ROOT / "scripts/refresh-prices"))
    spec = importlib.util.spec_from_loader("refresh_prices", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    for name in ("PRICES", "DAYS"):
        copy = tmp_path / getattr(module, name).name
        shutil.copy(getattr(module, name), copy)
        monkeypatch.setattr(module, name, copy)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "catalogs"
    (place / "runpod").mkdir(parents=True)
    (place / "runpod/vms.csv").write_text(CATALOG)
    return place


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_differences_are_shown_and_nothing_is_written_where_only_that_is_asked(
    script: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = script.PRICES.read_text()
    assert script.main([str(folder), "--clouds", "runpod", "--check"]) == 1
    said = capsys.readouterr().out
    assert "~ runpod  1x_A40_SECURE (A40:1) $0.44/h -> $0.49/h (+11 %)" in said
    assert "- runpod  8x_A40_SECURE" in said
    assert "+ runpod  1x_TOMORROW_SECURE (TOMORROW:1) $9.99/h" in said
    assert "? runpod: TOMORROW is not in gpu_specs.csv" in said
    assert "? runpod: SkyPilot cannot launch TOMORROW" in said
    assert script.PRICES.read_text() == before


def test_what_is_written_is_what_the_program_reads_and_other_clouds_stay(script: ModuleType, folder: Path) -> None:
    before = [row for row in rows(script.PRICES) if row["cloud"] != "runpod"]
    words = [str(folder), "--clouds", "runpod", "--date", "2026-11-19", "--commit", "abc"]
    assert script.main(words) == 0
    after = rows(script.PRICES)
    assert sorted(map(str, (row for row in after if row["cloud"] != "runpod"))) == sorted(map(str, before))
    offers = [offer_of(snapshot_row(row)) for row in after if row["cloud"] == "runpod"]
    assert [(o.label, str(o.price_usd_per_hour), o.vcpus) for o in offers if o] == [
        ("A40:1", "0.49", 9.0),
        ("L4:1", "0.39", 12.0),
        ("TOMORROW:1", "9.99", 12.0),
    ]
    days = {row["cloud"]: row["as_of"] for row in rows(script.DAYS)}
    assert days["runpod"] == "2026-11-19"
    assert days["lambda"] != "2026-11-19"
    assert script.main([*words, "--check"]) == 0


def test_an_address_is_read_too(script: ModuleType, web: Web) -> None:
    web.script = lambda seen: Said(CATALOG.encode()) if seen.path == "/v8/runpod/vms.csv" else Said(b"", 404)
    assert script.main([f"{web.address}/v8", "--clouds", "runpod", "--check"]) == 1
    assert script.main([f"{web.address}/v9", "--clouds", "runpod", "--check"]) == 2


@pytest.mark.parametrize("text", ["", "nothing", HEADER])
def test_a_catalog_that_cannot_be_read_changes_nothing(
    script: ModuleType, folder: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = script.PRICES.read_text()
    (folder / "runpod/vms.csv").write_text(text)
    assert script.main([str(folder), "--clouds", "runpod"]) == 2
    assert capsys.readouterr().err.startswith("runpod: ")
    assert script.PRICES.read_text() == before
