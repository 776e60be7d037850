"""The command that writes the table of what installs on which Python: what it makes of an index' answer, and that it writes nothing half."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from gpu_lol_action.estimation.wheel_ranges import PYTHONS
from tests.support.web import Said, Web

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("refresh_wheels", str(ROOT / "scripts/refresh-wheels"))
    spec = importlib.util.spec_from_loader("refresh_wheels", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    table = tmp_path / "wheel_ranges.csv"
    table.write_text(",".join(("package", *PYTHONS)) + "\n", encoding="utf-8")
    monkeypatch.setattr(module, "TABLE", table)
    return module


def file(name: str, python: str = "", *, yanked: bool = False) -> dict[str, object]:
    return {"filename": name, "requires-python": python or None, "yanked": yanked}


def wheel(version: str, tag: str, platform: str = "manylinux_2_17_x86_64") -> dict[str, object]:
    return file(f"fast_sums-{version}-{tag}-{tag}-{platform}.whl")


BUILT = [
    file("fast-sums-0.9.tar.gz"),
    wheel("1.0", "cp38"), wheel("1.0", "cp39"), file("fast-sums-1.0.tar.gz"),
    wheel("1.1", "cp39"), wheel("1.1", "cp310"), wheel("1.1", "cp311", "win_amd64"), file("fast-sums-1.1.tar.gz"),
    wheel("2.0", "cp310"), wheel("2.0", "cp311"), wheel("2.1rc1", "cp312"),
    file("fast_sums-3.0-cp310-cp310-manylinux_2_17_x86_64.whl", yanked=True), file("notes.txt"),
]  # fmt: skip
PURE = [file("slow_sums-1.0-py3-none-any.whl"), file("slow_sums-2.0-py3-none-any.whl", ">=3.9"), file("slow_sums-3.0-py3-none-any.whl", ">=3.11")]  # fmt: skip


def cells(script: ModuleType, files: list[dict[str, object]]) -> dict[str, str]:
    return dict(zip(PYTHONS, script.cells_of(files), strict=True))


def test_builds_bound_the_versions_of_each_python(script: ModuleType) -> None:
    found = cells(script, BUILT)
    # 0.9 is source alone: it may be built anywhere.
    assert found["3.8"] == "1.0..1.1"  # of 1.1 there is the source
    assert found["3.9"] == "1.0..1.1"
    assert found["3.10"] == "1.1.."
    assert found["3.11"] == "2.0.."


def test_a_python_that_a_release_asks_for_bounds_it_too(script: ModuleType) -> None:
    assert cells(script, PURE) == dict.fromkeys(("3.6", "3.7", "3.8"), "..1.0") | {"3.9": "..2.0", "3.10": "..2.0"} | dict.fromkeys(("3.11", "3.12", "3.13", "3.14"), "")  # fmt: skip


def test_nothing_that_is_bounded_has_no_row(script: ModuleType, tmp_path: Path) -> None:
    for name, files in (("fast-sums", BUILT), ("free", [file("free-1.0-py3-none-any.whl")]), ("empty", [])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"files": files}), encoding="utf-8")
    assert script.main([str(tmp_path), "Fast_Sums", "free", "empty"]) == 0
    with script.TABLE.open(encoding="utf-8", newline="") as text:
        assert [row["package"] for row in csv.DictReader(text)] == ["fast-sums"]


def test_an_index_that_does_not_answer_leaves_the_table(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = script.TABLE.read_bytes()
    assert script.main([str(tmp_path), "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    assert script.TABLE.read_bytes() == before


def test_an_index_is_asked_over_http(script: ModuleType, web: Web) -> None:
    body = json.dumps({"files": BUILT}).encode()
    web.script = lambda seen: Said(body) if seen.path == "/simple/fast-sums/" else Said(b"", 404)
    assert script.main([f"{web.address}/simple", "fast-sums"]) == 0
    assert script.TABLE.read_text(encoding="utf-8").count("\nfast-sums,") == 1
    assert "simple.v1+json" in web.seen[0].headers["accept"]
    assert script.main([f"{web.address}/elsewhere", "fast-sums"]) == 2


def test_an_old_line_of_releases_beside_a_newer_one_does_not_bound_it(script: ModuleType) -> None:
    files = [wheel(f"3.4.{patch}", "cp311") for patch in (17, 18)]
    files += [wheel(f"4.{minor}.0", "cp39") for minor in range(6)] + [wheel("4.6.0", "cp311"), wheel("4.7.0", "cp311")]
    alone = dict(zip(PYTHONS, script.cells_of(files), strict=True))
    beside = dict(zip(PYTHONS, script.cells_of(files, has_two_lines=True), strict=True))
    assert alone["3.11"] == "3.4.17.."
    assert beside["3.11"] == "4.6.0.."
