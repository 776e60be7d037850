"""The command that adds names that libraries took out to the table: wheels of several releases, read from a folder and never run."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.packages import make_wheel

ROOT = Path(__file__).resolve().parents[2]
FIRST = "name,package,gone_in\nold.name,old,1.0\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("refresh_gone", str(ROOT / "scripts/refresh-gone"))
    spec = importlib.util.spec_from_loader("refresh_gone", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    table = tmp_path / "gone_names.csv"
    table.write_text(FIRST, encoding="utf-8")
    monkeypatch.setattr(module, "TABLE", table)
    return module


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A library of four series: what it has moves, hides behind a star, behind a list of strings, and goes."""
    folder = tmp_path / "index"
    releases: dict[str, dict[str, str]] = {
        "0.9.0": {"sums/__init__.py": "from sums.core import *\n", "sums/core.py": "def total(): ...\nADD = 1\n"},
        "0.9.5": {"sums/__init__.py": "from .core import *\n", "sums/core.py": "def total(): ...\nif True:\n    ADD = 1\n"},
        "0.10.0": {
            "sums/__init__.py": "from lazy import load\n_NAMES = {'sums.core': ['total']}\n",
            "sums/core.py": "try:\n    from fast import ADD\nexcept ImportError:\n    ADD = 1\n",
        },
        "1.0.0": {"sums/__init__.py": "raise SystemExit('never run')\n", "sums/core.py": "def inner():\n    ADD = 1\n"},
        "1.1.0rc1": {"sums/__init__.py": "total = 1\n"},
    }  # fmt: skip
    for version, files in releases.items():
        make_wheel(folder, "sums", version, files=files)
    files = [{"filename": path.name, "yanked": False} for path in sorted(folder.iterdir())]
    (folder / "sums.json").write_text(json.dumps({"files": files}), encoding="utf-8")
    return folder


def _table(script: ModuleType) -> str:
    return str(script.TABLE.read_text(encoding="utf-8"))


def test_the_first_series_without_a_name_is_written(script: ModuleType, index: Path) -> None:
    assert script.main([str(index), "sums.total", "sums.core.ADD"]) == 0
    assert _table(script) == f"{FIRST}sums.core.ADD,sums,1.0\nsums.total,sums,1.0\n"


def test_what_the_newest_has_or_none_had_gets_no_row(
    script: ModuleType, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([str(index), "sums.core.inner", "sums.core.other"]) == 1
    assert _table(script) == FIRST
    assert capsys.readouterr().out.count("no row") == 2


def test_a_whole_module_is_gone_too(script: ModuleType, index: Path) -> None:
    make_wheel(index, "sums", "1.2.0", files={"sums/__init__.py": ""})
    answer = json.loads((index / "sums.json").read_text(encoding="utf-8"))
    answer["files"].append({"filename": "sums-1.2.0-py3-none-any.whl"})
    (index / "sums.json").write_text(json.dumps(answer), encoding="utf-8")
    assert script.main([str(index), "sums.core"]) == 0
    assert "sums.core,sums,1.2\n" in _table(script)


@pytest.mark.parametrize("broken", ["[]", "no JSON", '{"files": [{"filename": "sums-1.0-py3-none-any.whl"}]}'])
def test_an_answer_that_cannot_be_read_writes_nothing(script: ModuleType, tmp_path: Path, broken: str) -> None:
    (tmp_path / "sums.json").write_text(broken, encoding="utf-8")
    assert script.main([str(tmp_path), "sums.total"]) == 2
    assert _table(script) == FIRST
