"""The 28 known pitfalls of docs/security.md: each has a test that exists, or a reason why it cannot arise."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_lol_action.domain.request import Ignore
from gpu_lol_action.intake.parser import parse_comment
from tests.golden.cases import CASES
from tests.support.hostile import hostile_comments

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"<!-- pitfalls: a test compares -->\n(.*?)<!-- /pitfalls -->", re.DOTALL)
# What users' repositories call, with their secrets near; our own CI and release have none of them.
CALLED = ("propose.yml", "bot.yml")


def rows() -> list[list[str]]:
    """Return the cells of each row: number, pitfall, what we do, tests."""
    found = TABLE.search((ROOT / "docs" / "security.md").read_text(encoding="utf-8"))
    assert found is not None
    lines = found[1].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@functools.cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_pitfall_has_its_row() -> None:
    assert [row[0] for row in rows()] == [f"C{number}" for number in range(1, 29)]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_pitfall_names_tests_that_there_are(row: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[3])
    assert named, row[0]
    assert len(row[2].split()) >= 8, "what we do about it is a sentence"
    for path, name in named:
        assert name.startswith("test_")
        assert name in names_in(path), f"{row[0]} names {path}::{name}"


def test_the_page_says_how_many_hostile_comments_there_are() -> None:
    page = " ".join((ROOT / "docs" / "security.md").read_text(encoding="utf-8").split())
    assert f"lists {len(hostile_comments())} comments" in page


# --- what no other test looks at ------------------------------------------------------------------------------------


def workflow(name: str) -> dict[str, Any]:
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job.get("steps", ())]


@pytest.mark.parametrize("name", CALLED)
def test_no_called_workflow_reads_what_another_run_wrote(name: str) -> None:
    used = [str(step.get("uses", "")) for step in [*steps(name), *_action_steps()]]
    assert used
    assert not any(word in each for each in used for word in ("cache", "download-artifact"))
    assert not any("cache" in key for step in [*steps(name), *_action_steps()] for key in step.get("with", {}))
    assert "workflow_run" not in (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")


def _action_steps() -> list[dict[str, Any]]:
    loaded = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = loaded["runs"]["steps"]
    return found


@pytest.mark.parametrize("name", CALLED)
def test_called_workflows_run_on_githubs_own_machines(name: str) -> None:
    assert {job["runs-on"] for job in workflow(name)["jobs"].values()} == {"ubuntu-24.04"}
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "gpu_lol_action").rglob("*.py")]
    assert not any("registration-token" in source or "actions-runner" in source for source in sources)


def test_nothing_is_written_to_the_environment_of_later_steps() -> None:
    """A variable of a later step could be PATH; outputs are read by name."""
    scripts = [str(step.get("run", "")) for name in CALLED for step in steps(name)]
    scripts += [str(step.get("run", "")) for step in _action_steps()]
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "gpu_lol_action").rglob("*.py")]
    for text in [*scripts, *sources]:
        assert "GITHUB_ENV" not in text
        assert "GITHUB_PATH" not in text


@pytest.mark.parametrize("name", sorted(CASES))
def test_nothing_that_we_say_is_a_command(name: str) -> None:
    """With a person's token our comments start runs; neither they nor quotes of them may be obeyed."""
    body = CASES[name]()
    without_marker = body.split("\n", 1)[1]
    assert isinstance(parse_comment(body), Ignore)
    assert isinstance(parse_comment(without_marker), Ignore)


def test_comments_are_posted_in_one_place_and_redacted_there() -> None:
    """GitHub masks logs, not comments, and keeps what was there before an edit."""
    posting = re.compile(r"forge\.(?:post_comment|edit_comment|close_command)\(")
    where = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gpu_lol_action").rglob("*.py")
        if posting.search(path.read_text(encoding="utf-8"))
    }
    assert where == {"gpu_lol_action/handlers/answers.py", "gpu_lol_action/handlers/propose_sticky.py"}
    answers = (ROOT / "gpu_lol_action" / "handlers" / "answers.py").read_text(encoding="utf-8")
    assert sorted(posting.findall(answers)) == ["forge.close_command(", "forge.edit_comment(", "forge.post_comment("]
    # One text each, but the last word, which is two.
    assert answers.count("fitted(context, body)") == 3
    assert answers.count("fitted(context, last)") == 1
    assert "context.redact(body)" in answers
    sticky = (ROOT / "gpu_lol_action" / "handlers" / "propose_sticky.py").read_text(encoding="utf-8")
    assert "body = answers.fitted(context, body)" in sticky
