"""The pictures of comments are small, light and dark, and show the comments as they are now."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
MAX_BYTES = 200 * 1024


def load() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("render_pictures", str(ROOT / "scripts" / "render-pictures"))
    spec = importlib.util.spec_from_loader("render_pictures", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


PICTURES = load()


def test_the_pictures_show_the_comments_as_they_are() -> None:
    assert PICTURES.stale() == [], "scripts/render-pictures draws them anew; look at them before you commit"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", sorted([*PICTURES.SHOWN, *PICTURES.SHOWN_PLAYED]))
def test_each_picture_is_small_and_there_in_both_themes(name: str, theme: str) -> None:
    content = (ROOT / "docs" / "pictures" / f"{name}-{theme}.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) <= MAX_BYTES


def test_a_changed_comment_makes_its_pictures_stale(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for golden in PICTURES.SHOWN.values():
        text = (PICTURES.GOLDENS / f"{golden}.md").read_text()
        (tmp_path / f"{golden}.md").write_text(text + ("." if golden == "ready" else ""))
    monkeypatch.setattr(PICTURES, "GOLDENS", tmp_path)
    assert PICTURES.stale() == ["ready"]


def test_what_is_written_is_what_was_drawn() -> None:
    """The few lines of PNG in the script lose nothing but empty rows: a picture written is read back the same."""
    rows = [bytes([1, 2, 3, 250, 251, 252]), bytes([9, 9, 9, 1, 2, 3])]
    width, read = PICTURES.decode(rgb(2, rows))
    assert (width, read) == (2, rows)
    assert PICTURES.encode(2, rows).startswith(b"\x89PNG")


def rgb(width: int, rows: list[bytes]) -> bytes:
    """A picture with each of the filters that undo to the same bytes: none, and Sub on the second row."""
    import struct
    import zlib

    second = bytes((value - (rows[1][index - 3] if index >= 3 else 0)) % 256 for index, value in enumerate(rows[1]))
    data = zlib.compress(b"\0" + rows[0] + b"\1" + second)
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part)) for kind, part in parts
    )
