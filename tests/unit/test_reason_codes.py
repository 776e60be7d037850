"""docs/errors.md and the code name the same reason codes, and none has two exception classes."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gpu_lol_action.errors import Door, Ending, exit_code

ROOT = Path(__file__).parents[2]
EXCEPTIONS = frozenset({"UserError", "SpecError", "OperatorError", "TransientError", "LostRace"})
# Where a constructor takes the reason code: position, or the keyword `reason_code`.
POSITIONS: Mapping[str, int] = {**dict.fromkeys(EXCEPTIONS, 0), "Deny": 0, "Ignore": 0, "NoOfferError": 0, "Outcome": 1}


def codes_of_the_page() -> list[str]:
    return re.findall(r'^\| <a id="([a-z_]+)"></a>`\1` \|', (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE)


def codes_of_the_code() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "gpu_lol_action").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                for code in _literals(node, POSITIONS.get(name)):
                    found[code].add(name)
    return found


def _literals(call: ast.Call, position: int | None) -> Iterator[str]:
    if position is None:
        return
    given = [keyword.value for keyword in call.keywords if keyword.arg == "reason_code"]
    given += call.args[position : position + 1]
    for value in given:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[a-z_]+", node.value):
                yield node.value


def test_the_scan_sees_codes() -> None:
    assert codes_of_the_code()["budget_exceeded"] == {"Deny"}


def test_every_code_has_exactly_one_row() -> None:
    assert [code for code, count in Counter(codes_of_the_page()).items() if count > 1] == []
    assert set(codes_of_the_code()) - set(codes_of_the_page()) == set()


@pytest.mark.parametrize("code", codes_of_the_page())
def test_every_row_is_a_code(code: str) -> None:
    texts = (path.read_text() for path in (ROOT / "gpu_lol_action").rglob("*.py"))
    assert any(f'"{code}"' in text for text in texts)


def test_no_code_has_two_exception_classes() -> None:
    assert {
        code: names & EXCEPTIONS for code, names in codes_of_the_code().items() if len(names & EXCEPTIONS) > 1
    } == {}


def test_the_page_names_the_exit_code_of_each_ending_at_each_door() -> None:
    rows = re.findall(
        r"^\| `([a-z_]+)` \| [^|]+ \| (\d+) \| (\d+) \|$", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE
    )
    assert {(name, int(job), int(terminal)) for name, job, terminal in rows} == {
        (ending.value, exit_code(ending, Door.JOB), exit_code(ending, Door.TERMINAL)) for ending in Ending
    }
