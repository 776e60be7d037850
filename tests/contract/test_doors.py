"""The Action's door as a child process, as the runner starts it, against GitHub over HTTP.

No cloud is opened here: what needs one is deferred to the second step, which the stories of end_to_end play.
"""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

import cmarkgfm
import pytest

from gpu_lol_action.action_io import OUTPUTS
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.stage import Stage, StepRun
from tests.support.doors import KEY, SPEC, Scene, commands_in, put_record
from tests.support.guard import GUARD


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        hub = stage.hub
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[KEY])
        hub.add_user("reader", role="read")
        hub.commit({".gpu-lol.yaml": SPEC, "train.py": "import torch\n", "requirements.txt": "torch\n"})
        yield stage


@pytest.fixture
def scene(stage: Stage, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Scene]:
    (tmp_path / "sitecustomize.py").write_text(GUARD)
    branch = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())
    opened = stage.hub.open_pull_request("researcher", {f"{branch}.md": "more\n"}, branch=branch)
    stage.hub.forget_requests()
    yield Scene(stage, int(opened.number or 0), tmp_path)
    assert stage.hub.problems() == []


# --- the light path loads nothing heavy ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "author", "decision", "reason_code"),
    [
        ("/gpu-lol help", "stranger", "done", "help_shown"),
        ("/gpu-lol help up", "maintainer", "done", "help_shown"),
        ("/gpu-lol", "maintainer", "done", "help_shown"),
        ("/gpu-lol upp", "maintainer", "denied", "command_not_understood"),
        ("/gpu-lol up --gpu A10O", "maintainer", "denied", "unknown_accelerator"),
        ("/gpu-lol up --hours 99", "maintainer", "denied", "lease_out_of_bounds"),
        ("/gpu-lol up --dry-run", "maintainer", "done", "dry_run"),
        ("/gpu-lol up", "maintainer", "deferred", "needs_cloud"),
        ("/gpu-lol up --wait", "maintainer", "deferred", "needs_cloud"),
        ("/gpu-lol up", "reader", "denied", "permission_denied"),
        ("/gpu-lol up", "stranger", "denied", "permission_denied"),
        ("/gpu-lol status", "maintainer", "done", "status_shown"),
        ("/gpu-lol down", "maintainer", "done", "nothing_to_tear_down"),
        ("/gpu-lol analyze", "maintainer", "done", "proposed"),
        ("thanks, `/gpu-lol up` is nice", "maintainer", "ignored", "no_command"),
    ],
)
def test_comments_are_decided_without_skypilot(
    scene: Scene, body: str, author: str, decision: str, reason_code: str
) -> None:
    run = scene.light(scene.comment(body, author))
    assert (run.outputs["decision"], run.outputs["reason_code"]) == (decision, reason_code), run.log
    assert run.exit_code == 0, run.log
    assert run.outputs["needs_cloud"] == ("true" if decision == "deferred" else "false")
    result = json.loads(run.outputs["result"])
    assert (result["decision"], result["reason_code"]) == (decision, reason_code)
    assert scene.records == []
    if author == "stranger" and decision == "denied":
        assert scene.bodies == []
        assert sum(result["github_requests"].values()) <= 3
    elif decision in ("done", "denied"):
        assert scene.bodies
        assert scene.bodies[-1] in run.summary


def test_status_of_a_machine_that_does_not_answer_loads_nothing_heavy(scene: Scene) -> None:
    record = put_record(scene.ledger, scene.stage.hub.repository.repository_id, scene.number)
    run = scene.light(scene.comment("/gpu-lol status"))
    assert run.exit_code == 0, run.log
    assert record.name in scene.bodies[-1]
    up = scene.light(scene.comment("/gpu-lol up"))
    assert up.outputs["reason_code"] == "already_running"
    down = scene.light(scene.comment("/gpu-lol down"))
    assert down.outputs["deferred"] == "0"
    (written,) = scene.records
    assert written.tombstone is not None
    assert written.tombstone.by == "maintainer"
    closed = scene.light(scene.stage.hub.close_pull_request(scene.number, "maintainer"))
    assert closed.outputs["needs_cloud"] == "true"


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
def test_a_change_gets_its_proposal_without_skypilot(scene: Scene, name: str) -> None:
    event = scene.stage.hub.push(scene.number, "researcher", {"requirements.txt": "torch\neinops\n"})
    run = scene.light(dataclasses.replace(event, name=name))
    assert run.exit_code == 0, run.log
    assert run.outputs["reason_code"] == "proposed"
    assert len(scene.bodies) == 1
    assert "RTX4090" in scene.bodies[0]
    again = scene.light(dataclasses.replace(event, name=name))
    assert again.outputs["reason_code"] == "proposal_unchanged"
    assert len(scene.bodies) == 1


@pytest.mark.parametrize("key", ["", "rpa_" + "k" * 40])
def test_the_clock_asks_for_the_cloud_only_where_there_is_a_key(scene: Scene, key: str) -> None:
    run = scene.light(scene.stage.hub.schedule(), RUNPOD_API_KEY=key)
    assert run.exit_code == 0, run.log
    assert run.outputs["needs_cloud"] == ("true" if key else "false")
    by_hand = scene.light(scene.stage.hub.workflow_dispatch("maintainer", {"dry-run": "true"}), RUNPOD_API_KEY=key)
    assert by_hand.outputs["needs_cloud"] == ("true" if key else "false")


def test_without_a_key_the_whole_action_sweeps_nothing_and_is_green(scene: Scene) -> None:
    run = scene.step(scene.stage.hub.schedule(), GPU_LOL_PHASE="decide", RUNPOD_API_KEY="")
    assert run.outputs["reason_code"] == "no_cloud_secret"
    assert run.exit_code == 0


def test_other_events_and_other_actions_are_ignored_with_a_reason(scene: Scene) -> None:
    event = scene.stage.hub.push(scene.number, "researcher", {"a.txt": "a\n"})
    assert scene.light(dataclasses.replace(event, name="push")).outputs["reason_code"] == "event_not_handled"
    labeled = dataclasses.replace(event, payload={**event.payload, "action": "labeled"})
    run = scene.light(labeled)
    assert (run.outputs["decision"], run.outputs["reason_code"]) == ("ignored", "action_not_handled")
    assert run.exit_code == 0
    assert scene.stage.hub.counts() == {}


# --- events that are none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe{}", b'{"a":' * 20_000, None])
def test_an_event_file_that_is_none_is_our_error(scene: Scene, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "odd.json"
    if content is not None:
        path.write_bytes(content)
    run = scene.light(Webhook("issue_comment", {}), GITHUB_EVENT_PATH=str(path))
    assert run.exit_code == 3, run.log
    assert run.outputs["decision"] == "failed"
    assert scene.stage.hub.counts() == {}


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("pull_request", {"action": ["opened"]}),
        ("issue_comment", {"action": "created", "comment": None, "issue": 7}),
        ("schedule", {}),
        ("workflow_dispatch", {"inputs": "x"}),
        ("", {}),
    ],
)
def test_payloads_of_another_shape_are_ignored(scene: Scene, name: str, payload: dict[str, object]) -> None:
    run = scene.light(Webhook(name, payload))
    assert run.exit_code == 0, run.log
    assert run.outputs["decision"] == "ignored"
    assert scene.stage.hub.counts() == {}


def test_a_missing_token_is_the_maintainers(scene: Scene) -> None:
    run = scene.light(scene.comment("/gpu-lol status"), GITHUB_TOKEN="")
    assert run.exit_code == 2, run.log
    assert run.outputs["reason_code"] == "github_token_missing"
    assert "github-token: ${{ github.token }}" in run.log, "the annotation says what to do"
    assert "github-token" in run.summary
    assert scene.stage.hub.counts() == {}


def test_a_wrong_token_is_the_maintainers_and_is_shown_nowhere(scene: Scene) -> None:
    token = "ghs_" + "Wr0ng" * 8
    run = scene.light(scene.comment("/gpu-lol status"), GITHUB_TOKEN=token)
    assert run.exit_code == 2, run.log
    assert token not in run.summary + json.dumps(dict(run.outputs))
    assert token not in "\n".join(line for line in run.log.splitlines() if not line.startswith("::add-mask::"))


def test_without_a_key_up_names_the_secret_to_a_maintainer(scene: Scene) -> None:
    run = scene.light(scene.comment("/gpu-lol up"), RUNPOD_API_KEY="")
    assert run.exit_code == 2, run.log
    assert run.outputs["reason_code"] == "cloud_secret_missing"
    assert "RUNPOD_API_KEY" in scene.bodies[-1]
    assert scene.records == []


# --- what a stranger writes -----------------------------------------------------------------------------------------


def test_secrets_are_masked_before_anything_else_is_said(scene: Scene) -> None:
    run = scene.light(scene.comment("/gpu-lol status"), RUNPOD_API_KEY="rpa_first\nrpa_second")
    lines = run.log.splitlines()
    masks = [line for line in lines if line.startswith("::add-mask::")]
    assert lines[: len(masks)] == masks
    assert {"::add-mask::rpa_first", "::add-mask::rpa_second", f"::add-mask::{scene.stage.hub.bot_token}"} == set(masks)


HOSTILE_LINES = [
    "/gpu-lol ::error::forged",
    "/gpu-lol ##[error]forged",
    "/gpu-lol up --gpu <img/src=https://evil.example/x>",
    "/gpu-lol help ![x](https://evil.example/x)",
    "/gpu-lol up @everyone --sha `id`",
    "/gpu-lol up </details><script>alert(1)</script>",
    "/gpu-lol up --image $(id)",
    "/gpu-lol {{7*7}}",
    "/gpu-lol status --<!--",
    "/gpu-lol \u202eup \ud83d",
]


def assert_harmless(scene: Scene, run: StepRun) -> None:
    """No forged command in the log, no forged output, and nothing of the stranger's that renders as markup."""
    heads = {line.lstrip().split("::")[1].split(" ")[0] for line in commands_in(run.log)}
    assert heads <= {"add-mask", "error", "warning"}
    assert not any("forged" in line.split("::")[1] for line in commands_in(run.log))
    assert "##[" not in run.log
    assert set(run.outputs) == {output.name for output in OUTPUTS}
    for body in [*scene.bodies, run.summary]:
        html = cmarkgfm.github_flavored_markdown_to_html(body)
        assert "<script" not in html
        hosts = {urlsplit(address).hostname for address in re.findall(r'(?:src|href)="([^"]*)"', html)}
        assert "evil.example" not in hosts
        assert not re.search(r"(?<![\w`/])@everyone", re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL))
        assert "\u202e" not in body


@pytest.mark.parametrize("start", range(0, len(HOSTILE_LINES), 5))
def test_what_a_comment_says_stays_data(scene: Scene, start: int) -> None:
    event = scene.comment("placeholder")
    # Set in the event itself: the stand-in's store would not take half of a surrogate pair.
    comment = {**event.payload["comment"], "body": "\n\n".join(HOSTILE_LINES[start : start + 5])}
    run = scene.light(dataclasses.replace(event, payload={**event.payload, "comment": comment}))
    assert run.exit_code == 0, run.log
    results = json.loads(run.outputs["result"])["results"]
    asked = HOSTILE_LINES[start : start + 5]
    assert [result["decision"] for result in results] == ["done" if "help" in line else "denied" for line in asked]
    assert_harmless(scene, run)


def test_titles_branches_and_file_names_stay_data(stage: Stage, scene: Scene) -> None:
    name = "x/$(id)`id`-<img/src=x>@everyone"
    files = {
        "::error::forged.py": "import torch\n",
        "a b/##[error]forged.md": "x\n",
        "![x](https:evil.example)/train.py": "from transformers import AutoModel\nAutoModel.from_pretrained('![](https://evil.example/@everyone)')\n",
        "<script>.yaml": "a: 1\n",
        ".gpu-lol.yaml": SPEC,
        "requirements.txt": "torch\n<script>alert(1)</script>\n@everyone\n::error::forged\n",
    }
    opened = stage.hub.open_pull_request(
        "researcher", files, title="</details>\n::error::forged @everyone", branch=name
    )
    other = Scene(stage, int(opened.number or 0), scene.guard)
    run = other.light(opened)
    assert run.exit_code == 0, run.log
    assert_harmless(other, run)
    up = other.light(other.comment("/gpu-lol up --dry-run"))
    assert up.exit_code == 0, up.log
    assert_harmless(other, up)


def test_an_invalid_spec_is_annotated_at_its_line_and_is_red(scene: Scene) -> None:
    text = "hardware:\n  gpu_cuont: 1  # ::error::forged @everyone\n"
    event = scene.stage.hub.push(scene.number, "researcher", {".gpu-lol.yaml": text})
    run = scene.light(event)
    assert run.exit_code == 1, run.log
    (annotation,) = [line for line in run.log.splitlines() if line.startswith("::error ")]
    assert annotation.startswith("::error file=.gpu-lol.yaml,line=2,title=")
    assert "gpu_count" in annotation
    assert len(scene.bodies) == 1
    assert "gpu_count" in run.summary
    up = scene.light(scene.comment("/gpu-lol up"))
    assert up.exit_code == 1, up.log
    assert up.outputs["needs_cloud"] == "false"
    assert "Nothing was launched" in scene.bodies[-1]


@pytest.mark.parametrize(
    ("policy", "reason_code"),
    [("enabled: false\n", "disabled"), ("enabeld: true\n", "policy_invalid"), (b"\xff\xfe", "policy_invalid")],
)
def test_a_policy_that_stops_the_bot_does_not_stop_teardown(
    stage: Stage, scene: Scene, policy: str | bytes, reason_code: str
) -> None:
    put_record(scene.ledger, stage.hub.repository.repository_id, scene.number)
    stage.hub.commit({".github/gpu-lol.yml": policy})
    up = scene.light(scene.comment("/gpu-lol up"))
    down = scene.light(scene.comment("/gpu-lol down"))
    closed = scene.light(stage.hub.close_pull_request(scene.number, "maintainer"))
    assert up.outputs["reason_code"] == reason_code, up.log
    assert down.outputs["needs_cloud"] == "true", down.log
    assert closed.outputs["needs_cloud"] == "true", closed.log


def test_a_forks_read_only_token_leaves_the_proposal_in_the_summary(stage: Stage, scene: Scene) -> None:
    reading = stage.hub.add_token(stage.hub.bot.login, {"contents": "read", "pull_requests": "read", "issues": "read"})
    event = stage.hub.push(scene.number, "researcher", {"requirements.txt": "torch\neinops\n"})
    run = scene.light(event, GITHUB_TOKEN=reading)
    assert run.exit_code == 0, run.log
    assert run.outputs["reason_code"] == "proposed"
    assert scene.bodies == []
    assert "RTX4090" in run.summary
    assert any(line.startswith("::warning") and "summary" in line for line in run.log.splitlines())


def test_what_the_token_may_not_show_is_a_line_of_the_summary(stage: Stage, scene: Scene) -> None:
    """The permissions that README's level 1 grants: the comment comes, and nothing else is missed loudly."""
    token = stage.hub.add_token(stage.hub.bot.login, {"contents": "read", "pull_requests": "write"})
    event = stage.hub.push(scene.number, "researcher", {"requirements.txt": "torch\neinops\n"})
    run = scene.light(event, GITHUB_TOKEN=token)
    assert run.exit_code == 0, run.log
    assert len(scene.bodies) == 1
    assert run.summary.rstrip().endswith("- Left out: the check run (it needs `checks: write` in the workflow).")
    assert not any(line.startswith("::") and "add-mask" not in line for line in run.log.splitlines())


def test_a_change_that_touches_nothing_is_silent_with_a_reason(scene: Scene) -> None:
    run = scene.light(scene.stage.hub.push(scene.number, "researcher", {"d.txt": "d\n"}))
    assert (run.outputs["decision"], run.outputs["reason_code"]) == ("ignored", "environment_untouched")
    assert scene.bodies == []
    assert "environment_untouched" in run.summary


def test_what_is_set_for_a_pull_request_is_what_up_would_rent(scene: Scene) -> None:
    run = scene.light(scene.comment("/gpu-lol set gpu=A40"))
    assert (run.outputs["decision"], run.outputs["reason_code"]) == ("done", "corrected"), run.log
    (proposal,) = scene.bodies
    assert "`gpu=A40` by maintainer" in proposal
    assert "1 × A40" in proposal
    dry = scene.light(scene.comment("/gpu-lol up --dry-run"), RUNPOD_API_KEY="rpa_" + "k" * 40)
    assert dry.outputs["reason_code"] == "dry_run", dry.log
    assert "A40" in scene.bodies[1]
    assert "RTX4090" not in scene.bodies[1].split("<details>")[0]


# --- GitHub fails -----------------------------------------------------------------------------------------------------


def test_a_comment_whose_answer_was_lost_is_not_posted_twice(scene: Scene) -> None:
    event = scene.comment("/gpu-lol help")
    scene.stage.hub.fail_next("POST comments", 502, mode="after")
    run = scene.light(event)
    assert run.exit_code == 0, run.log
    assert len(scene.bodies) == 1


def test_a_proposal_whose_answer_was_lost_is_not_posted_twice(scene: Scene) -> None:
    event = scene.stage.hub.push(scene.number, "researcher", {"requirements.txt": "torch\neinops\n"})
    scene.stage.hub.fail_next("POST comments", 0, mode="after")
    run = scene.light(event)
    assert run.exit_code == 0, run.log
    assert len(scene.bodies) == 1


def test_a_comment_that_never_gets_through_is_in_the_summary(scene: Scene) -> None:
    event = scene.comment("/gpu-lol help")
    scene.stage.hub.fail_next("POST comments", 403, body={"message": "Resource not accessible by integration"})
    run = scene.light(event)
    assert run.exit_code == 0, run.log
    assert scene.bodies == []
    assert "/gpu-lol up" in run.summary
    assert any(line.startswith("::warning") for line in run.log.splitlines())


def test_permissions_that_cannot_be_asked_let_nobody_in(scene: Scene) -> None:
    event = scene.comment("/gpu-lol up")
    scene.stage.hub.fail_next("GET collaborators/{username}/permission", 500, times=3)
    run = scene.light(event)
    assert run.exit_code == 4, run.log
    assert run.outputs["needs_cloud"] == "false"
    assert run.outputs["reason_code"] == "github_unreachable"
    assert any("Nothing was launched" in body for body in scene.bodies)


def test_an_outage_that_passes_is_not_noticed(scene: Scene) -> None:
    event = scene.comment("/gpu-lol up")
    scene.stage.hub.fail_next("GET collaborators/{username}/permission", 503)
    scene.stage.hub.fail_next("graphql", 0)
    run = scene.light(event)
    assert run.outputs["needs_cloud"] == "true", run.log


def test_a_rate_limit_ends_the_run_and_says_until_when(scene: Scene) -> None:
    event = scene.comment("/gpu-lol up")
    reset = datetime(2030, 1, 1, 12, 30, tzinfo=timezone.utc)
    limit = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(reset.timestamp()))}
    body = {"message": "API rate limit exceeded for installation."}
    scene.stage.hub.fail_next("GET collaborators/{username}/permission", 403, body=body, headers=limit)
    run = scene.light(event)
    assert run.exit_code == 4, run.log
    assert run.outputs["reason_code"] == "github_rate_limited"
    assert "12:30 UTC" in run.summary
    assert run.outputs["needs_cloud"] == "false"


def test_a_commit_whose_archive_is_gone_launches_nothing(scene: Scene) -> None:
    event = scene.comment("/gpu-lol up")
    scene.stage.hub.fail_next("GET tarball/{ref}", 404, times=1)
    run = scene.light(event)
    assert run.outputs["needs_cloud"] == "false", run.log
    assert run.outputs["decision"] == "failed"
    assert "Nothing was launched" in scene.bodies[-1]
    assert scene.records == []


def test_a_reaction_that_fails_stops_nothing(scene: Scene) -> None:
    event = scene.comment("/gpu-lol help")
    scene.stage.hub.fail_next("POST reactions", 500)
    run = scene.light(event)
    assert run.exit_code == 0, run.log
    assert len(scene.bodies) == 1


def test_the_second_step_answers_what_needs_no_machine_and_nothing_twice(scene: Scene) -> None:
    """Deferred by the first step, denied in the second: no cloud is touched on the way there."""
    event = scene.comment("/gpu-lol upp\n\n/gpu-lol help")
    run = scene.step(event, GPU_LOL_PHASE="act", GPU_LOL_DEFERRED="1")
    assert run.outputs["reason_code"] == "help_shown"
    assert len(scene.bodies) == 1
    assert scene.stage.hub.reactions(event.payload["comment"]["id"]) == ["+1"], (
        "how it ended, and not twice that it was heard"
    )


def test_a_cancelled_step_says_so_and_exits_as_cancelled(scene: Scene) -> None:
    """The runner's first signal; here it finds the step waiting for a rate limit to pass."""
    hub = scene.stage.hub
    event = scene.comment("/gpu-lol status")
    hub.fail_next("GET collaborators/{username}/permission", 403, headers={"retry-after": "50"})
    step = scene.stage.start_step(event, hub.start_run(event.name, hub.maintainer), {"GPU_LOL_PHASE": "decide"})
    deadline = time.monotonic() + 60
    while not any("permission" in operation for operation in hub.counts()):
        assert time.monotonic() < deadline, "the permission was never asked"
        time.sleep(0.05)
    step.process.send_signal(signal.SIGTERM)
    run = step.wait(timeout=120)
    assert run.exit_code == 130, run.log
    assert (run.outputs["decision"], run.outputs["reason_code"]) == ("failed", "cancelled")
    assert "Traceback" not in run.log
