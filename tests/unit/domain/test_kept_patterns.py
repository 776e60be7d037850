"""What Python compiles expressions to is kept, and never trusted further than Python itself checks it."""

from __future__ import annotations

import json
import marshal
import os
import re
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.domain import kept_patterns
from gpu_lol_action.domain.kept_patterns import compiled, keep

FLAGS = int(re.IGNORECASE)
PATTERN = r"(?P<amount>\d{1,4})(?:[ -]?)(?P<unit>gi?b)\b(?=é|[^a-zß\n]|$)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "cache" / "kept.codes"
    monkeypatch.setattr(kept_patterns, "_place", lambda: file)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(kept_patterns, "_new", [])
    kept_patterns._kept.cache_clear()
    yield file
    kept_patterns._kept.cache_clear()


def again() -> None:
    """Forget what this process knows, as the next one does."""
    kept_patterns._kept.cache_clear()
    kept_patterns._new.clear()


def test_what_was_kept_is_the_same_expression(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(PATTERN, FLAGS)
    keep()
    again()
    with monkeypatch.context() as patch:
        patch.setattr(re, "compile", lambda *_: pytest.fail("it was compiled again"))
        made = compiled(PATTERN, FLAGS)
    usual = re.compile(PATTERN, FLAGS)
    assert made == usual  # Python compares the code
    assert (made.flags, made.groups, dict(made.groupindex)) == (usual.flags, usual.groups, dict(usual.groupindex))
    found = made.search("needs 24 GiB.")
    assert found is not None
    assert found.groupdict() == {"amount": "24", "unit": "GiB"}
    assert found.lastgroup == "unit"


def test_what_is_asked_later_is_added(place: Path) -> None:
    compiled("a+", 0)
    keep()
    again()
    compiled("b+", 0)
    keep()
    again()
    assert set(kept_patterns._kept()) == {("a+", 0), ("b+", 0)}
    assert not list(place.parent.glob("*.[0-9]*"))


def test_flags_are_part_of_what_is_kept(place: Path) -> None:
    compiled("a", 0)
    keep()
    again()
    assert compiled("a", FLAGS).search("A")
    assert not compiled("a", 0).search("A")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xff",
        marshal.dumps(("another Python", {("a+", 0): (b"", 0, 0, {})})),
        marshal.dumps(7),
        marshal.dumps((kept_patterns._FORM, 7)),
        marshal.dumps((kept_patterns._FORM, {("a+", 0): (array("I", [4_000_000_000]).tobytes(), 32, 0, {})})),
        marshal.dumps((kept_patterns._FORM, {("a+", 0): (b"", 32, 0, {})})),
        marshal.dumps((kept_patterns._FORM, {("a+", 0): (b"odd", 32, 0, {})})),
        marshal.dumps((kept_patterns._FORM, {("a+", 0): ("no bytes", 32, 0, {})})),
    ],
)
def test_what_is_no_code_is_compiled_as_ever(place: Path, content: bytes) -> None:
    place.parent.mkdir()
    place.write_bytes(content)
    assert compiled("a+", 0) == re.compile("a+")


def test_a_faulty_expression_is_said_to_be_one(place: Path) -> None:
    with pytest.raises(re.error):
        compiled("(", 0)
    compiled("a+", 0)
    keep()
    again()
    assert set(kept_patterns._kept()) == {("a+", 0)}


def test_nothing_is_written_where_python_may_write_none(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compiled("a+", 0)
    keep()
    assert not place.parent.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    place.parent.write_text("a file where the folder would be")
    keep()
    assert place.parent.read_text() == "a file where the folder would be"


def test_a_file_that_grew_by_changed_expressions_starts_anew(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_patterns, "_MAX_KEPT", 2)
    for pattern in ("a", "b", "c"):
        compiled(pattern, 0)
        keep()
        again()
    assert set(kept_patterns._kept()) == {("c", 0)}


def test_an_analysis_keeps_what_it_compiled_and_the_next_says_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "train.py").write_text(
        "import torch\n\nmodel = torch.nn.Linear(8, 8).cuda()\nmodel(torch.ones(1)).backward()\n"
    )
    (folder / "README.md").write_text("Needs a GPU with 24 GB of memory: `python train.py`.\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path / "compiled")
    words = [sys.executable, "-m", "gpu_lol_action.cli", "analyze", str(folder), "--format", "json"]
    said = [subprocess.run(words, env=environment, check=True, capture_output=True).stdout for _ in range(2)]
    assert said[0] == said[1]
    assert json.loads(said[0])["vram_required_gb"]
    assert len(list((tmp_path / "compiled").rglob("kept_patterns*.codes"))) == 1
