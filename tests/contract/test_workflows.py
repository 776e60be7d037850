"""Our workflows fit each other, the action they call, and the rules of the house."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REUSABLE = ("bot", "propose")
LEVELS = {"none": 0, "read": 1, "write": 2}


@cache
def load(name: str) -> dict[Any, Any]:
    """Return a workflow. YAML 1.1 reads the key `on` as true."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def called(job: dict[str, Any]) -> str | None:
    """Return which of our reusable workflows a job calls."""
    match = re.search(r"/\.github/workflows/(\w+)\.yml(?:@|$)", job.get("uses", ""))
    return match.group(1) if match and match.group(1) in REUSABLE else None


def callers() -> list[tuple[str, dict[str, Any], str]]:
    """Return where, job and callee of each call of ours: in the workflow that we use ourselves, and in the README."""
    texts = {"gpu-lol.yml": (ROOT / ".github" / "workflows" / "gpu-lol.yml").read_text()}
    readme = ROOT / "README.md"
    if readme.is_file():
        blocks = re.findall(r"^```ya?ml\n(.*?)^```", readme.read_text(), flags=re.DOTALL | re.MULTILINE)
        texts |= {f"README.md, block {number}": block for number, block in enumerate(blocks, 1) if "\njobs:" in block}
    return [
        (where, job, callee)
        for where, text in texts.items()
        for job in yaml.safe_load(text)["jobs"].values()
        if (callee := called(job))
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_grants_nothing_at_the_top_and_boxes_each_job(path: Path) -> None:
    workflow = load(path.stem)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"], f"{name} says what it needs"
        if "uses" not in job:
            assert 0 < job["timeout-minutes"] <= 90, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_third_party_action_is_pinned_by_commit_with_its_version(path: Path) -> None:
    for line in re.findall(r"uses: (\S.*)", path.read_text()):
        if not line.startswith(("./", "$/")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_each_action_has_one_pin() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40} # v\S+)", path.read_text()):
            pins.setdefault(action, set()).add(pin)
    assert len(pins) >= 3
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_event_text_reaches_a_shell(path: Path) -> None:
    for job in load(path.stem)["jobs"].values():
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", ""), step


@pytest.mark.parametrize("name", REUSABLE)
def test_reusable_workflow_runs_only_the_action_of_its_own_commit(name: str) -> None:
    (job,) = load(name)["jobs"].values()
    refuse, fetch, act = job["steps"]
    assert refuse["if"] == "${{ !job.workflow_repository || !job.workflow_sha }}"
    assert refuse["run"].rstrip().endswith("exit 1")
    assert fetch["with"]["repository"] == "${{ job.workflow_repository }}"
    assert fetch["with"]["ref"] == "${{ job.workflow_sha }}"
    assert fetch["with"]["persist-credentials"] is False
    assert act["uses"] == f"./{fetch['with']['path']}"


@pytest.mark.parametrize("name", REUSABLE)
def test_reusable_workflow_passes_inputs_that_the_action_has(name: str) -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (job,) = load(name)["jobs"].values()
    assert set(job["steps"][-1]["with"]) <= set(inputs)
    assert "github-token" in job["steps"][-1]["with"]


def test_the_workflow_without_a_secret_names_none() -> None:
    assert "secrets." not in (ROOT / ".github" / "workflows" / "propose.yml").read_text()


def test_callers_are_found() -> None:
    assert {callee for where, _, callee in callers() if where == "gpu-lol.yml"} == set(REUSABLE)


@pytest.mark.docs
@pytest.mark.parametrize(("where", "job", "callee"), callers())
def test_caller_grants_what_the_called_job_asks_for(where: str, job: dict[str, Any], callee: str) -> None:
    # A called job that asks for a permission its caller lacks fails the whole run at start-up.
    (wanted,) = load(callee)["jobs"].values()
    granted = job["permissions"]
    for permission, level in wanted["permissions"].items():
        assert LEVELS[granted.get(permission, "none")] >= LEVELS[level], (
            f"{where}: {callee} needs {permission}: {level}"
        )
    assert set(granted) == set(wanted["permissions"]), f"{where} grants {callee} more than it uses"


@pytest.mark.docs
@pytest.mark.parametrize(("where", "job", "callee"), callers())
def test_caller_passes_what_the_called_workflow_takes(where: str, job: dict[str, Any], callee: str) -> None:
    takes = load(callee)[True]["workflow_call"] or {}
    assert set(job.get("with", {})) <= set(takes.get("inputs", {})), where
    assert set(job.get("secrets", {})) <= set(takes.get("secrets", {})), where
