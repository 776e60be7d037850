"""The contracts of pyproject.toml hold, and each of them notices its own violation."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(project: Path, contract: str) -> subprocess.CompletedProcess[str]:
    """Judge the package of a project folder by one contract."""
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--contract", contract],
        cwd=project,
        env={"PYTHONPATH": str(project), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


VIOLATIONS = [
    ("rooms", "domain/intruder.py", "import gpu_lol_action.handlers"),
    ("rooms", "intake/intruder.py", "import gpu_lol_action.pricing"),
    ("rooms", "cellar.py", "import gpu_lol_action.domain"),
    ("analysis", "analysis/python/intruder.py", "import gpu_lol_action.analysis.runs"),
    ("analysis", "analysis/cellar.py", "import gpu_lol_action.domain"),
    ("hands", "handlers/intruder.py", "import gpu_lol_action.adapters"),
    ("pure", "launch/intruder.py", "import subprocess"),
    ("pure", "analysis/intruder.py", "import httpx"),
    ("sky", "adapters/intruder.py", "import sky"),
    ("programs", "adapters/intruder.py", "from subprocess import run"),
    ("github", "adapters/intruder.py", "import github"),
    ("templates", "render/intruder.py", "import jinja2"),
]


@pytest.mark.parametrize(("contract", "file", "line"), VIOLATIONS)
def test_contract_notices_its_violation(tmp_path: Path, contract: str, file: str, line: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "gpu_lol_action"
    for room in ("handlers", "adapters", "render", "intake", "analysis", "pricing", "launch", "estimation", "domain"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").touch()
    for room in ("answer", "runs", "python"):
        (package / "analysis" / room).mkdir()
        (package / "analysis" / room / "__init__.py").touch()
    for module in ("__init__", "errors"):
        (package / f"{module}.py").touch()
    clean = lint(tmp_path, contract)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    (package / file).write_text(f"{line}\n")
    broken = lint(tmp_path, contract)
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "BROKEN" in broken.stdout


@pytest.mark.parametrize("contract", sorted({contract for contract, _, _ in VIOLATIONS}))
def test_package_keeps_contract(contract: str) -> None:
    answer = lint(ROOT, contract)
    assert answer.returncode == 0, answer.stdout + answer.stderr
