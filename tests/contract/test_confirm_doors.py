"""A second person's word through the Action's real door: GitHub over HTTP keeps the comments, and nothing else is kept."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.rehearsal.stage import Stage, StepRun
from tests.support.doors import KEY, SPEC, Scene
from tests.support.guard import GUARD
from tests.support.rendered import reply_problems

POLICY = "limits: {price_usd_per_hour: 9, confirm_above_usd_per_hour: 0.10}\nsweep: {required: false}\n"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    (tmp_path / "sitecustomize.py").write_text(GUARD)
    with Stage() as stage:
        hub = stage.hub
        hub.add_user("ada", role="write", ssh_keys=[KEY])
        hub.add_user("grace", role="maintain")
        hub.commit({".gpu-lol.yaml": SPEC, "train.py": "import torch\n", ".github/gpu-lol.yml": POLICY})
        opened = hub.open_pull_request("ada", {"notes.md": "more\n"})
        hub.forget_requests()
        yield Scene(stage, int(opened.number or 0), tmp_path)
        assert hub.problems() == []


def ask(scene: Scene, body: str = "/gpu-lol up") -> tuple[int, str]:
    """Let ada ask; return her comment's number and the line that our answer offers."""
    written = scene.comment(body, "ada")
    run = scene.light(written)
    assert run.outputs["reason_code"] == "confirmation_required", run.log
    assert run.exit_code == 0
    assert reply_problems(scene.bodies[-1], f"{scene.stage.hub.web_url}/{scene.stage.full_name}/compare/") == []
    found = re.search(r"^/gpu-lol confirm .+$", scene.bodies[-1], re.MULTILINE)
    assert found is not None
    return int(written.payload["comment"]["id"]), found[0]


def reason(run: StepRun) -> str:
    return run.outputs["reason_code"]


def test_a_confirmed_request_goes_on_to_the_step_with_the_cloud(scene: Scene) -> None:
    number, line = ask(scene)
    assert line.startswith(f"/gpu-lol confirm {number}-")
    asked = sum(scene.stage.hub.counts().values())
    scene.stage.hub.forget_requests()
    run = scene.light(scene.comment(line, "grace"))
    counts = scene.stage.hub.counts()
    assert run.outputs["needs_cloud"] == "true", run.log
    assert sum(counts.values()) <= asked + 4, "the comment, the requester's role, and the record's two"
    assert scene.records == []


def test_an_edited_request_is_none_any_more(scene: Scene) -> None:
    number, line = ask(scene)
    time.sleep(1.1)  # GitHub's stamps are whole seconds
    scene.stage.hub.edit_comment(number, "/gpu-lol up")
    assert reason(scene.light(scene.comment(line, "grace"))) == "confirmation_outdated"


def test_an_edit_in_the_same_second_is_seen_by_the_seal(scene: Scene) -> None:
    number, line = ask(scene)
    kept = scene.stage.hub.repository.comments[number]
    kept.body = "/gpu-lol up --share mallory"
    assert kept.updated_at == kept.created_at
    assert reason(scene.light(scene.comment(line, "grace"))) == "confirmation_outdated"


def test_a_push_after_the_request_takes_the_confirmation_back(scene: Scene) -> None:
    _, line = ask(scene)
    scene.stage.hub.push(scene.number, "ada", {"train.py": "import torch, os\n"})
    assert reason(scene.light(scene.comment(line, "grace"))) == "ref_changed"


def test_neither_who_asked_nor_a_smaller_role_confirms(scene: Scene) -> None:
    _, line = ask(scene)
    assert reason(scene.light(scene.comment(line, "ada"))) == "permission_denied"
    scene.stage.hub.add_user("ada", role="admin", ssh_keys=[KEY])
    assert reason(scene.light(scene.comment(line, "ada"))) == "confirmation_by_requester"
    before = len(scene.bodies)
    assert reason(scene.light(scene.comment(line, "mallory"))) == "permission_denied"
    assert len(scene.bodies) == before


def test_our_own_answer_edited_by_somebody_leads_nowhere(scene: Scene) -> None:
    """Whoever may write can edit the signpost; what it then says opens nothing that was not asked for."""
    _, line = ask(scene)
    forged = re.sub(r"(?<=--price )\S+", "9", line.replace("confirm ", "confirm 1"))
    answer = next(each for each in scene.stage.hub.comments(scene.number) if line in each.body)
    answer.body = answer.body.replace(line, forged)
    assert reason(scene.light(scene.comment(forged, "grace"))) == "confirmation_outdated"
