"""What every kind of test shares: whole-output comparison with files that `make golden` rewrites."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the flag that accepts the present output."""
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files from the present output, instead of comparing"
    )


@pytest.fixture(autouse=True)
def _bundled_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask nobody for prices, in this process and in those that inherit from it; tests of that name an address."""
    monkeypatch.setenv("GPU_LOL_PRICES", "bundled")


@pytest.fixture
def assert_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a whole output, byte by byte, with the file of that name below tests/golden."""
    is_update = bool(request.config.getoption("--update-golden"))

    def assert_golden(name: str, actual: str) -> None:
        path = GOLDEN / name
        if is_update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(actual.encode())
            return
        if not path.is_file():
            pytest.fail(f"tests/golden/{name} does not exist; `make golden` writes it")
        expected = path.read_bytes().decode()
        if actual == expected:
            return
        difference = difflib.unified_diff(
            expected.splitlines(keepends=True),
            actual.splitlines(keepends=True),
            f"tests/golden/{name}",
            "present output",
        )
        shown = "".join(line if line.endswith("\n") else f"{line}\n\\ no newline at the end\n" for line in difference)
        pytest.fail(f"{shown}\n`make golden` accepts the present output", pytrace=False)

    return assert_golden
