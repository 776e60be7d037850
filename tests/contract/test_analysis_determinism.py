"""The same checkout gets the same bytes, whatever the machine: asked of the command itself, in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
BINARY = {".png", ".jpg", ".gz", ".bin"}
# One process prints all that is asked for: most of its time goes by with starting.
_CHILD = """
import sys
from gpu_lol_action.cli import main
for output_format in sys.argv[2:]:
    code = main(["analyze", sys.argv[1], "--format", output_format])
    if code:
        sys.exit(code)
"""
# Pythons differ in how they add floats: 3.12 carries the rounding errors along.
_WITHOUT_SUMS_OF_FLOATS = """
import builtins
plain = builtins.sum
def strict(values, start=0):
    values = list(values)
    assert not any(isinstance(value, float) for value in values), values
    return plain(values, start)
builtins.sum = strict
"""
_VARIABLE = ("LC_", "LANG", "TZ", "PYTHONDONTWRITEBYTECODE")


def answer(folder: Path, *formats: str, before: str = "", umask: int = 0o022, **changed: str) -> bytes:
    """Return what `gpu-lol analyze` prints about a folder, in each format, with these variables around it and that code run before."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(_VARIABLE)}
    run = subprocess.run(
        [sys.executable, "-c", before + _CHILD, str(folder), *formats],
        cwd=ROOT,
        env=keep | {"PYTHONPATH": str(ROOT)} | changed,
        capture_output=True,
        check=False,
        timeout=120,
        umask=umask,
    )
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout
    return run.stdout


def copied(folder: Path, target: Path, *, backwards: bool = False) -> Path:
    """Copy a folder file by file, so that the disk lists them in the order, or against the order, of their paths."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    for path in reversed(files) if backwards else files:
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return target


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.name)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An example without its links, which the copies below do not have either."""
    path: Path = request.param
    return copied(path, tmp_path / "first")


def test_the_answer_does_not_depend_on_what_is_around_it(example: Path, tmp_path: Path) -> None:
    there = tmp_path / "a place with spaces" / "\u00fcber" / "second"
    answers = {
        answer(example, "json", "yaml", PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8"),
        answer(example, "json", "yaml", PYTHONHASHSEED="1", TZ="Asia/Kathmandu", LC_ALL="C", PYTHONUTF8="1"),
        answer(copied(example, there, backwards=True), "json", "yaml", umask=0o077, PYTHONHASHSEED="4242", LC_ALL="tr_TR.UTF-8",
               LANG="tr_TR.UTF-8", PYTHONIOENCODING="utf-8", TZ="America/St_Johns"),
    }  # fmt: skip
    assert len(answers) == 1


def test_line_ends_do_not_change_the_answer(example: Path, tmp_path: Path) -> None:
    there = copied(example, tmp_path / "crlf")
    changed = 0
    for path in there.rglob("*"):
        if path.is_file() and path.suffix not in BINARY:
            content = path.read_bytes().replace(b"\r\n", b"\n")
            changed += b"\n" in content
            path.write_bytes(content.replace(b"\n", b"\r\n"))
    assert changed
    assert answer(there, "json", PYTHONUTF8="1") == answer(example, "json", PYTHONUTF8="1")


def test_no_float_is_added_as_only_some_pythons_do(example: Path) -> None:
    assert answer(example, "json", before=_WITHOUT_SUMS_OF_FLOATS) == answer(example, "json")
