"""The package's own tables (``data``), each read when it is first asked."""

from __future__ import annotations

import csv
from pathlib import Path

# A path, not importlib.resources: that takes longer to load than all tables to read, and nobody runs this from an archive.
_FOLDER = Path(__file__).parents[1] / "data"


def table_text(name: str) -> str:
    """Return the text of a file of ``data``."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def table_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of ``data`` by the names in its first line, in its order."""
    names, *rows = csv.reader(table_text(name).splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]
