"""Checkouts from a mapping of paths to texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout

Build = Callable[[Mapping[str, str]], Checkout]


@pytest.fixture
def checkout(tmp_path: Path) -> Build:
    def build(files: Mapping[str, str]) -> Checkout:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return read_checkout(tmp_path)

    return build
