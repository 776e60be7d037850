"""docs/architecture.md is the same picture as the import contract and the package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text()

pytestmark = pytest.mark.docs


def contract_layers(name: str = "rooms") -> list[list[str]]:
    """Return the rooms of an import contract, from the doors down."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (rooms,) = (contract for contract in contracts if contract["id"] == name)
    return [[room.strip(" ()") for room in layer.split("|")] for layer in rooms["layers"]]


def test_picture_is_the_import_contract() -> None:
    (picture,) = re.findall(r"```rooms\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    assert [[room.strip() for room in line.split("|")] for line in picture.splitlines()] == contract_layers()


def test_table_explains_each_room_once() -> None:
    rows = re.findall(r"^\| `([a-z_]+)(?:/|\.py)` \|", DOCUMENT, flags=re.MULTILINE)
    rooms = [room for layer in contract_layers() for room in layer]
    assert rows == [*rooms, "data"]


def test_package_has_no_room_that_the_table_lacks() -> None:
    rows = set(re.findall(r"^\| `([a-z_]+)(?:/|\.py)` \|", DOCUMENT, flags=re.MULTILINE))
    children = (ROOT / "gpu_lol_action").iterdir()
    present = {child.stem for child in children if child.suffix == ".py" or (child / "__init__.py").is_file()}
    assert present - rows - {"__init__"} == set()


def test_rooms_of_the_analysis_are_its_contract_and_its_folders() -> None:
    rows = re.findall(r"^\| `analysis/([a-z_]+)/` \|", DOCUMENT, flags=re.MULTILINE)
    assert rows == [room for layer in contract_layers("analysis") for room in layer]
    children = [child for child in (ROOT / "gpu_lol_action" / "analysis").iterdir() if child.name != "__pycache__"]
    assert sorted(rows) == sorted(child.name for child in children if child.is_dir())
    # A module beside the rooms would be held to no direction.
    assert [child.name for child in children if child.is_file()] == ["__init__.py"]


def test_unit_tests_of_the_analysis_lie_in_the_rooms_of_what_they_test() -> None:
    rooms: dict[str, set[str]] = {}
    for path in (ROOT / "gpu_lol_action" / "analysis").glob("*/*.py"):
        rooms.setdefault(path.stem, set()).add(path.parent.name)
    tests = (ROOT / "tests" / "unit" / "analysis").rglob("test_*.py")
    tested = {path: rooms.get(path.stem.removeprefix("test_"), {path.parent.name}) for path in tests}
    assert {path for path, homes in tested.items() if path.parent.name not in homes} == set()
