"""The label that starts a fork's smoke test: GitHub over HTTP, both steps, and every way in which it must not start one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.request import Ignore, Outcome
from gpu_lol_action.handlers.finish import DeadJob
from gpu_lol_action.intake.events import parse_event
from gpu_lol_action.intake.label_gate import SEEN_AFTER
from gpu_lol_action.rehearsal.github_events import Webhook
from gpu_lol_action.rehearsal.github_state import Issue, Repository
from gpu_lol_action.rehearsal.stage import Stage
from gpu_lol_action.router import Step, route
from gpu_lol_action.wiring import github as wiring
from tests.support.fault_world import FILES, World, machine_for, started_world
from tests.support.guard import guarded

LABEL = "gpu-smoke"
POLICY = f"smoke: {{label: {LABEL}}}\n"
SPEC = {".gpu-lol.yaml": FILES[".gpu-lol.yaml"] + 'smoke: {command: "python -m pytest tests"}\n'}


@dataclass
class Scene:
    """A contributor's pull request from a fork, some minutes old, in a repository with a maintainer and others."""

    world: World
    fork: Repository
    number: int
    head: str

    @property
    def issue(self) -> Issue:
        return self.world.hub.issue(self.number)

    @property
    def bodies(self) -> list[str]:
        return [comment.body for comment in self.world.hub.comments(self.number, by=self.world.hub.bot.login)]

    @property
    def checks(self) -> list[tuple[str, str]]:
        """Commit and conclusion of each check run of ours."""
        runs = self.world.hub.repository.record("checks").values()
        return [(run["head_sha"], run["conclusion"]) for run in runs]

    def label(self, by: str = "maintainer", name: str = LABEL) -> Webhook:
        return as_target(self.world.hub.label(self.number, by, name))

    def act(self, webhook: Webhook) -> list[str]:
        """The action on an event, and its reason codes."""
        self.world.ends.clear()
        self.world.act(webhook)
        return self.world.reason_codes

    def step(self, webhook: Webhook, step: Step, pinned: str = "") -> list[str]:
        """One step alone."""
        self.world.ends.clear()
        run_id = self.world.hub.start_run(webhook.name, "maintainer")
        self.world._step(webhook, run_id, step, pinned)
        return self.world.reason_codes

    def push(self) -> str:
        pushed = self.world.hub.push(self.number, "contributor", {"train.py": "import os\n"})
        return str(pushed.payload["after"])

    def wait(self, minutes: float = 10) -> None:
        self.world.clock.sleep(timedelta(minutes=minutes))

    def assert_refused(self, code: str, *, is_told: bool = True) -> None:
        """Nothing was rented, the label is off, and the reason is said once."""
        assert self.world.reason_codes == [code]
        assert self.issue.labels == []
        assert not self.world.cloud.log
        assert self.world.records == []
        assert self.checks == []
        assert len(self.bodies) == int(is_told)
        if is_told:
            assert "**Nothing was launched.**" in self.bodies[0]


def as_target(webhook: Webhook) -> Webhook:
    return dataclasses.replace(webhook, name="pull_request_target")


@pytest.fixture
def world() -> Iterator[World]:
    with started_world({**SPEC, ".github/gpu-lol.yml": POLICY}) as started:
        for login, role in (("maintainer", "maintain"), ("writer", "write"), ("sorter", "triage")):
            started.hub.add_user(login, role=role)
        yield started
        assert not started.cloud.running
        assert started.hub.problems() == []


@pytest.fixture
def scene(world: World) -> Scene:
    fork = world.hub.fork("contributor")
    opened = world.hub.open_pull_request("contributor", {"train.py": "import torch  # mine\n"}, fork=fork)
    head = str(opened.payload["pull_request"]["head"]["sha"])
    world.machine = machine_for(world.hub, head)
    world.number = int(opened.number or 0)
    world.clock.sleep(timedelta(minutes=10))
    return Scene(world, fork, world.number, head)


# --- it runs ---------------------------------------------------------------------------------------------------------


def test_maintainers_label_tests_exactly_the_commit_that_was_the_head(scene: Scene) -> None:
    assert scene.act(scene.label()) == ["needs_cloud", "smoke_passed"]
    assert scene.checks == [(scene.head, "success")]
    assert scene.issue.labels == []
    (body,) = scene.bodies
    assert f"GPU smoke test passed at `{scene.head[:7]}`" in body
    (record,) = scene.world.records
    assert (record.sha, record.requester.login, record.is_open) == (scene.head, "maintainer", False)
    assert "smoke" in scene.world.machine.kinds


def test_label_takes_what_the_command_takes(scene: Scene) -> None:
    """The same answer, the same check, the same record: only who asked how differs."""
    scene.act(scene.label())
    by_label, label_record = scene.bodies[-1], scene.world.records[-1]
    scene.act(scene.world.hub.comment(scene.number, "maintainer", f"/gpu-lol smoke {scene.head}"))
    by_command, command_record = scene.bodies[-1], scene.world.records[-1]
    assert by_label.splitlines()[1:] == by_command.splitlines()[1:]
    assert (label_record.sha, label_record.profile) == (command_record.sha, command_record.profile)
    assert scene.checks[0] == scene.checks[-1]


def test_label_can_be_set_again_and_counts_again(scene: Scene) -> None:
    assert scene.act(scene.label())[-1] == "smoke_passed"
    scene.wait()
    assert scene.act(scene.label())[-1] == "smoke_passed"
    assert len(scene.issue.labelings) == 2


def test_label_is_taken_off_before_the_test_runs(scene: Scene) -> None:
    webhook = scene.label()
    assert scene.step(webhook, Step(may_use_cloud=False)) == ["needs_cloud"]
    assert scene.issue.labels == []
    assert scene.step(webhook, Step(only=(0,)), scene.head) == ["smoke_passed"]


def test_light_step_asks_four_things_of_github_and_takes_the_label_off(scene: Scene) -> None:
    webhook = scene.label()
    scene.world.hub.forget_requests()
    scene.step(webhook, Step(may_use_cloud=False))
    assert scene.world.hub.counts() == {
        "POST /graphql": 2,
        "GET /repos/{owner}/{repo}/collaborators/{username}/permission": 1,
        "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}": 1,
    }


def test_it_runs_in_one_step_too(scene: Scene) -> None:
    assert scene.step(scene.label(), Step()) == ["smoke_passed"]
    assert scene.issue.labels == []


# --- whose label, and which ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", ["writer", "sorter", "contributor", "eve", "nobody"])
def test_who_may_not_give_the_command_may_not_set_the_label(scene: Scene, login: str) -> None:
    scene.act(scene.label(login))
    scene.assert_refused("permission_denied")


def test_what_the_event_says_of_its_sender_lets_nobody_in(scene: Scene) -> None:
    """Its sender is a maintainer's login; GitHub knows of no label by them."""
    webhook = scene.label("sorter")
    maintainer = scene.label().payload["sender"]
    scene.issue.labelings.pop()
    scene.world.hub.repository.issues[scene.number].labels = [LABEL]
    scene.act(dataclasses.replace(webhook, payload={**webhook.payload, "sender": maintainer}))
    scene.assert_refused("label_unproven")
    assert f"/gpu-lol smoke {scene.head}" in scene.bodies[0]


def test_role_that_was_taken_since_counts(scene: Scene) -> None:
    webhook = scene.label()
    assert scene.step(webhook, Step(may_use_cloud=False)) == ["needs_cloud"]
    scene.world.hub.add_user("maintainer", role="read")
    assert scene.step(webhook, Step(only=(0,)), scene.head) == ["permission_denied"]
    assert not scene.world.cloud.log


def test_roles_of_the_policy_are_those_that_confirm(scene: Scene) -> None:
    scene.world.hub.commit({".github/gpu-lol.yml": f"{POLICY}confirm: {{roles: [admin]}}\n"})
    scene.act(scene.label())
    scene.assert_refused("permission_denied")


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("smoke: {}\n", "label_not_ours"),
        ("smoke: {label: other}\n", "label_not_ours"),
        ("smoke: {label: [gpu-smoke]}\n", "label_not_ours"),
        (None, "label_not_ours"),
    ],
)
def test_label_that_no_policy_names_is_nobodys_business(scene: Scene, policy: str | None, code: str) -> None:
    scene.world.hub.commit({".github/gpu-lol.yml": policy})
    webhook = scene.label()
    scene.world.ends.clear()
    end = scene.world.act(webhook)
    assert end.run is not None
    assert end.run.ignored is not None
    assert end.run.ignored.reason_code == code
    assert scene.issue.labels == [LABEL]
    assert scene.bodies == []


def test_bots_label_is_left_where_it_is(scene: Scene) -> None:
    """A bot that sets it again each time it is taken off would go on for ever."""
    scene.world.hub.add_user("helper[bot]", role="admin", kind="Bot")
    end = scene.world.act(scene.label("helper[bot]"))
    assert end.run is not None
    assert end.run.ignored is not None
    assert end.run.ignored.reason_code == "author_is_bot"
    assert end.requests == {}
    assert scene.bodies == []


def test_branch_of_this_repository_needs_none(world: World) -> None:
    webhook = as_target(world.hub.label(world.number, "maintainer", LABEL))
    end = world.act(webhook)
    assert end.run is not None
    assert end.run.ignored is not None
    assert end.run.ignored.reason_code == "label_needless"
    assert end.requests == {}


def test_policy_that_forbids_forks_forbids_their_label(scene: Scene) -> None:
    scene.world.hub.commit({".github/gpu-lol.yml": f"smoke: {{label: {LABEL}, forks: false}}\n"})
    scene.act(scene.label())
    scene.assert_refused("fork_denied")


def test_policy_of_the_pull_request_counts_for_nothing(scene: Scene) -> None:
    scene.world.hub.commit({".github/gpu-lol.yml": None})
    scene.world.hub.push(scene.number, "contributor", {".github/gpu-lol.yml": POLICY})
    scene.wait()
    end = scene.world.act(scene.label())
    assert end.run is not None
    assert end.run.ignored is not None


# --- which commit ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [0, 4.9])
def test_push_shortly_before_the_label_is_refused_with_the_command_to_paste(scene: Scene, minutes: float) -> None:
    head = scene.push()
    scene.wait(minutes)
    scene.act(scene.label())
    scene.assert_refused("push_unseen")
    assert f"```\n/gpu-lol smoke {head}\n```" in scene.bodies[0]
    assert f"Look at `{head[:7]}`" in scene.bodies[0]
    scene.world.machine = machine_for(scene.world.hub, head)
    assert (
        scene.act(scene.world.hub.comment(scene.number, "maintainer", f"/gpu-lol smoke {head}"))[-1] == "smoke_passed"
    )


def test_push_that_was_there_long_enough_is_tested(scene: Scene) -> None:
    head = scene.push()
    scene.world.machine = machine_for(scene.world.hub, head)
    scene.wait(SEEN_AFTER / timedelta(minutes=1))
    assert scene.act(scene.label())[-1] == "smoke_passed"
    assert scene.checks == [(head, "success")]


def test_push_after_the_label_needs_a_new_word(scene: Scene) -> None:
    webhook = scene.label()
    head = scene.push()
    scene.act(webhook)
    scene.assert_refused("ref_changed")
    assert f"`{head[:7]}`" in scene.bodies[0]
    assert "/gpu-lol smoke" not in scene.bodies[0], "nobody has looked at that commit yet"


@pytest.mark.parametrize("is_back", [False, True])
def test_push_while_the_job_waits_for_its_turn_needs_a_new_word(scene: Scene, is_back: bool) -> None:
    webhook = scene.label()
    assert scene.step(webhook, Step(may_use_cloud=False)) == ["needs_cloud"]
    scene.push()
    if is_back:
        scene.issue.pull.head_sha = scene.head  # type: ignore[union-attr]  # forced back to where it was
    assert scene.step(webhook, Step(only=(0,)), scene.head) == ["push_unseen" if is_back else "ref_changed"]
    assert not scene.world.cloud.log


def test_push_during_the_launch_stops_it(scene: Scene) -> None:
    """The first offer says no, and before the second the head is looked at again."""

    def refuse() -> NotLaunched:
        scene.push()
        return NotLaunched("no_capacity", "no machine now", is_certain=True)

    scene.world.cloud.answers = [refuse]
    scene.act(scene.label())
    assert sum(line.startswith("launch") for line in scene.world.cloud.log) == 1
    assert "smoke" not in scene.world.machine.kinds


@pytest.mark.parametrize("unknown", ["fork", "graphql"])
def test_what_github_does_not_say_is_no_yes(scene: Scene, unknown: str) -> None:
    webhook = scene.label()
    if unknown == "fork":
        scene.world.hub.delete_fork(scene.fork)
    else:
        scene.world.hub.world.refuses_graphql = True
    scene.act(webhook)
    scene.assert_refused("label_unproven")
    assert f"/gpu-lol smoke {scene.head}" in scene.bodies[0]


def test_outage_starts_nothing_and_the_label_can_be_set_again(scene: Scene) -> None:
    webhook = scene.label()
    operation = "GET /repos/{owner}/{repo}/collaborators/{username}/permission"
    scene.world.hub.inject("server_error", operation, times=3)
    scene.act(webhook)
    assert scene.world.reason_codes == ["github_unreachable"]
    assert scene.issue.labels == []
    assert not scene.world.cloud.log


def test_label_that_cannot_be_taken_off_is_noted(scene: Scene) -> None:
    webhook = scene.label()
    scene.world.hub.inject("permission", "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}")
    assert scene.step(webhook, Step(may_use_cloud=False)) == ["needs_cloud"]
    assert any("taking the label off" in note for note in scene.world.progress.notes)


def test_closed_pull_request_is_refused(scene: Scene) -> None:
    webhook = scene.label()
    scene.world.hub.close_pull_request(scene.number, "contributor")
    scene.act(webhook)
    scene.assert_refused("pull_request_closed")


# --- again, and dead -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("again", "code"), [("maintainer", "needs_cloud"), ("writer", "rerun_by_another")])
def test_run_that_is_started_again_is_still_the_same_persons_word(scene: Scene, again: str, code: str) -> None:
    webhook = scene.label()
    event = parse_event(webhook.name, webhook.payload)
    assert not isinstance(event, Ignore)
    with scene.world.context("7", focus=wiring.focus_of(event)) as context:
        settings = dataclasses.replace(context.settings, run_attempt="2", triggering_actor=again)
        policy = wiring.load_policy(context, event.repository)
        run = route(dataclasses.replace(context, settings=settings), event, lambda: policy, Step(may_use_cloud=False))
    assert [result.outcome.reason_code for result in run.results] == [code]


def finish(scene: Scene, webhook: Webhook, job: DeadJob) -> Outcome:
    event = parse_event(webhook.name, webhook.payload)
    assert not isinstance(event, Ignore)
    with scene.world.context("99", focus=wiring.focus_of(event)) as context:
        policy = wiring.load_policy(context, event.repository)
        run = route(context, event, lambda: policy, Step(may_use_cloud=False, finishes=job))
    return run.results[0].outcome


def test_label_whose_job_died_is_answered_with_the_command(scene: Scene) -> None:
    webhook = scene.label()
    scene.step(webhook, Step(may_use_cloud=False))
    assert finish(scene, webhook, DeadJob((0,))).reason_code == "command_not_carried_out"
    assert f"/gpu-lol smoke {scene.head}" in scene.bodies[-1]


def test_label_of_a_light_step_that_died_is_answered_and_taken_off(scene: Scene) -> None:
    webhook = scene.label()
    assert finish(scene, webhook, DeadJob()).reason_code == "command_not_carried_out"
    assert scene.issue.labels == []


def test_other_labels_and_strangers_hear_nothing_of_a_job_that_died(scene: Scene) -> None:
    for webhook in (scene.label(name="bug"), scene.label("sorter")):
        assert finish(scene, webhook, DeadJob()).reason_code == "nothing_left_over"
    assert scene.bodies == []


# --- the door itself -------------------------------------------------------------------------------------------------


def test_light_step_as_the_runner_starts_it(tmp_path: Path) -> None:
    """A process of its own, with no cloud key and nothing heavy loaded: refused at first, then handed on to the next job."""
    with guarded(tmp_path) as variables, Stage() as stage:
        light = {**variables, "RUNPOD_API_KEY": "", "GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod"}
        hub = stage.hub
        hub.commit({**FILES, ".github/gpu-lol.yml": POLICY})
        fork = hub.fork("contributor")
        opened = hub.open_pull_request("contributor", {"train.py": "import torch  # mine\n"}, fork=fork)
        number, head = int(opened.number or 0), str(opened.payload["pull_request"]["head"]["sha"])
        refused = stage.run_step(as_target(hub.label(number, hub.maintainer, LABEL)), "7", light)
        assert (refused.exit_code, refused.outputs["reason_code"]) == (0, "push_unseen"), refused.log
        assert refused.outputs["needs_cloud"] == "false"
        assert f"/gpu-lol smoke {head}" in refused.summary
        assert fork.pushed_at is not None
        fork.pushed_at -= SEEN_AFTER
        run = stage.run_step(as_target(hub.label(number, hub.maintainer, LABEL)), "8", light)
        assert (run.exit_code, run.outputs["reason_code"]) == (0, "needs_cloud"), run.log
        assert (run.outputs["deferred"], run.outputs["lane"], run.outputs["pinned_sha"]) == ("0", "spend", head)
        assert hub.issue(number).labels == []
        assert hub.problems() == []
