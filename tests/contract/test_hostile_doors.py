"""Hostile comments through the Action's real door: a child process, GitHub over HTTP, outputs and log as the runner reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from gpu_lol_action.action_io import OUTPUTS
from gpu_lol_action.rehearsal.stage import Stage
from tests.support.doors import KEY, SPEC, Scene, commands_in
from tests.support.guard import GUARD
from tests.support.hostile import HARMLESS, REFUSED, SILENT, HostileComment, hostile_comments
from tests.support.rendered import reply_problems

DECISIONS = {SILENT: "ignored", REFUSED: "denied", HARMLESS: "done"}


def sample() -> list[HostileComment]:
    """Return the first comment of each family, and every ninetieth of all."""
    everything = hostile_comments()
    firsts = {comment.name.rpartition("-")[0]: comment for comment in reversed(everything)}
    return sorted({*firsts.values(), *everything[::90]}, key=lambda comment: comment.name)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    guard = tmp_path_factory.mktemp("guard")
    (guard / "sitecustomize.py").write_text(GUARD)
    with Stage() as stage:
        hub = stage.hub
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[KEY])
        hub.commit(
            {".gpu-lol.yaml": SPEC, "train.py": "import torch\n", ".github/gpu-lol.yml": "forks: {may_launch: true}\n"}
        )
        opened = hub.open_pull_request("researcher", {"notes.md": "more\n"})
        yield Scene(stage, int(opened.number or 0), guard)


@pytest.mark.parametrize("comment", sample(), ids=lambda comment: comment.name)
def test_a_hostile_comment_changes_nothing_but_the_conversation(scene: Scene, comment: HostileComment) -> None:
    hub = scene.stage.hub
    hub.forget_requests()
    before = len(scene.bodies)
    run = scene.light(scene.comment(comment.body))
    counts = hub.counts()
    assert run.exit_code == 0, run.log
    assert DECISIONS[comment.outcome] in {run.outputs["decision"], _first_decision(run.outputs["result"])}, run.log
    assert run.outputs["needs_cloud"] == "false"
    assert set(run.outputs) <= {output.name.replace("-", "_") for output in OUTPUTS} | {
        output.name for output in OUTPUTS
    }
    assert all(line.startswith("::add-mask::") for line in commands_in(run.log)), commands_in(run.log)
    assert scene.records == []
    assert hub.problems() == []
    if comment.outcome == SILENT:
        assert counts == {}
        assert len(scene.bodies) == before
    for body in scene.bodies[before:]:
        assert reply_problems(body) == []


def _first_decision(result: str) -> str:
    results = json.loads(result).get("results") or [{}]
    return str(results[0].get("decision", ""))


def test_a_strangers_commands_cost_a_reaction_each_and_never_a_comment(scene: Scene) -> None:
    hub = scene.stage.hub
    before = len(scene.bodies)
    for body in (
        "/gpu-lol up",
        "/gpu-lol down --all\n\n/gpu-lol upp\n\n/gpu-lol up @everyone",
        "/gpu-lol up",
        "/gpu-lol xx",
    ):
        hub.forget_requests()
        written = scene.comment(body, "mallory")
        run = scene.light(written)
        assert run.outputs["decision"] == "denied"
        # The role, the policy, the reaction; and, where no machine was ever on record, a look whether that is so.
        assert sum(hub.counts().values()) <= 4, hub.counts()
        assert hub.reactions(written.payload["comment"]["id"]) == ["-1"]
    assert len(scene.bodies) == before


def test_a_stranger_gets_the_list_of_commands_once_and_nothing_beside_it(scene: Scene) -> None:
    opened = scene.stage.hub.open_pull_request("researcher", {"other.md": "more\n"}, branch="other")
    other = Scene(scene.stage, int(opened.number or 0), scene.guard)
    assert other.light(other.comment("/gpu-lol help\n\n/gpu-lol upp", "mallory")).outputs["decision"] == "denied"
    assert len(other.bodies) == 1
    for body in ("/gpu-lol help", "/gpu-lol", "/gpu-lol help up\n\n/gpu-lol help down"):
        run = other.light(other.comment(body, "trudy"))
        assert run.outputs["reason_code"] == "help_shown_before"
    assert len(other.bodies) == 1
    assert other.light(other.comment("/gpu-lol help")).outputs["reason_code"] == "help_shown"
    assert len(other.bodies) == 2
