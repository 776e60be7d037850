"""A job died: what it began is ended, what it never answered is answered, and nothing else is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from gpu_lol_action.domain.environment import Requester, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import CommentCreated, PullRequestClosed, Scheduled
from gpu_lol_action.errors import Ending
from gpu_lol_action.handlers.finish import OTHERS_PATIENCE, DeadJob
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.router import Run, Step, route
from tests.support.hands import START
from tests.unit.handlers.conftest import POLICY, Bench

RUN = "77"  # the bench's own


def comment(bench: Bench, body: str = "/gpu-lol up", author: str = "ada") -> CommentCreated:
    return CommentCreated(bench.forge.repo, 12, 5, body, Requester(author, 7), False, "MEMBER")


def finish(bench: Bench, body: str = "/gpu-lol up", *, deferred: tuple[int, ...] = (0,), decision: str = "") -> Run:
    """Both steps of the finishing job, as action.yml starts them."""
    job = DeadJob(deferred, decision)
    light = route(bench.context, comment(bench, body), lambda: POLICY, Step(may_use_cloud=False, finishes=job))
    if not light.deferred:
        return light
    assert bench.cloud.log == [], "the light step asks no cloud"
    return route(bench.context, comment(bench, body), lambda: POLICY, Step(finishes=job))


def codes(run: Run) -> list[str]:
    return [result.outcome.reason_code for result in run.results]


@pytest.mark.parametrize("state", [State.CLAIMED, State.LAUNCHING, State.VALIDATING])
def test_launch_whose_job_died_is_ended_and_certified(bench: Bench, state: State) -> None:
    bench.running(state)
    claimed_by_dead_job(bench)
    run = finish(bench)
    assert codes(run) == ["left_over_ended"]
    assert bench.record.state is State.FAILED
    assert bench.record.tombstone == Tombstone("the finishing job", "run_died", START)
    assert bench.cloud.running == {}
    assert len(bench.texts) == 1
    assert "Nothing is running" in bench.texts[0] or "Nothing was launched" in bench.texts[0]
    bench.assert_nothing_bills_unnoticed()


def claimed_by_dead_job(bench: Bench) -> None:
    """Make what runs there this very run's launch: its run id is that of the run which now finishes."""
    (entry,) = bench.ledger.entries()
    bench.ledger.update(entry, replace(entry.record, run_id=RUN))  # type: ignore[arg-type,union-attr]  # readable here


def test_no_time_is_lost_on_waiting_for_a_launcher_that_github_says_is_over(bench: Bench) -> None:
    bench.running(State.LAUNCHING)
    claimed_by_dead_job(bench)
    finish(bench)
    assert bench.clock.now() - START <= POLICY.absence_interval + timedelta(seconds=5)


def test_machine_that_was_handed_over_is_left_alone(bench: Bench) -> None:
    bench.running(State.READY)
    claimed_by_dead_job(bench)
    run = finish(bench, decision="done")
    assert codes(run) == ["nothing_left_over"]
    assert bench.record.state is State.READY
    assert bench.texts == []


def test_down_whose_job_died_is_carried_out(bench: Bench) -> None:
    write_tombstone(bench.context, bench.running(), Tombstone("ada", "down", START))
    run = finish(bench, "/gpu-lol down")
    assert codes(run) == ["left_over_ended"]
    assert bench.cloud.running == {}
    assert [text for text in bench.texts if "`/gpu-lol down` by ada" in text]
    assert len(bench.texts) == 1, "its certificate is the answer"


def test_end_that_another_run_brings_about_meanwhile_is_not_certified_twice(bench: Bench) -> None:
    write_tombstone(bench.context, bench.running(), Tombstone("ada", "down", START))
    bench.context = replace(bench.context, clock=BusyClock(bench, START + timedelta(seconds=40)))
    run = finish(bench, "/gpu-lol down")
    assert codes(run) == ["left_over_ended"]
    assert bench.texts == []
    assert bench.clock.now() - START < OTHERS_PATIENCE


@dataclass
class BusyClock:
    """While it sleeps, past a moment, another run closes what it is ending."""

    bench: Bench
    moment: datetime

    def now(self) -> datetime:
        return self.bench.clock.now()

    def sleep(self, duration: timedelta) -> None:
        self.bench.clock.sleep(duration)
        if self.now() >= self.moment:
            closed_by_somebody(self.bench)


def closed_by_somebody(bench: Bench) -> None:
    (entry,) = bench.ledger.entries()
    now = bench.clock.now()
    closed = replace(entry.record, state=State.CLOSED, closed_at=now, updated_at=now)  # type: ignore[union-attr]  # readable here
    bench.ledger.update(entry, closed)  # type: ignore[arg-type]  # readable here
    bench.cloud.running.clear()


def test_machine_of_another_pull_request_is_none_of_its_business(bench: Bench) -> None:
    write_tombstone(bench.context, bench.running(), Tombstone("ada", "down", START))
    event = replace(comment(bench, "/gpu-lol down"), pull_request_number=13)
    run = route(bench.context, event, lambda: POLICY, Step(may_use_cloud=False, finishes=DeadJob((0,))))
    assert bench.cloud.running != {}
    assert run.deferred == ()


def test_cloud_that_does_not_answer_is_said_with_what_may_bill(bench: Bench) -> None:
    bench.running(State.LAUNCHING)
    claimed_by_dead_job(bench)
    bench.cloud.is_silent = True
    run = finish(bench)
    assert codes(run) == ["teardown_unproven"]
    assert run.results[0].ending is Ending.TRANSIENT_ERROR
    assert "$0.44/h" in bench.texts[-1]
    assert bench.record.state is State.UNKNOWN


def test_up_that_lost_its_place_is_told_to_who_asked(bench: Bench) -> None:
    run = finish(bench)
    assert codes(run) == ["command_not_carried_out"]
    (text,) = bench.texts
    assert "`/gpu-lol up` was not carried out" in text
    assert "Nothing was launched" in text
    finish(bench)
    assert bench.cloud.log == []


def test_extension_that_came_to_nothing_is_told_and_ends_nothing(bench: Bench) -> None:
    bench.running()
    assert codes(finish(bench, "/gpu-lol extend 1h")) == ["command_not_carried_out"]
    assert "`/gpu-lol extend` was not carried out" in bench.texts[0]
    assert bench.cloud.running != {}


def test_command_of_a_light_step_that_died_is_told(bench: Bench) -> None:
    assert codes(finish(bench, "/gpu-lol status", deferred=())) == ["command_not_carried_out"]
    assert "`/gpu-lol status` was not carried out" in bench.texts[0]


@pytest.mark.parametrize("body", ["nothing for you", "```\n/gpu-lol up\n```", "/gpu-lol upp"])
def test_comment_without_a_command_is_told_nothing(bench: Bench, body: str) -> None:
    assert codes(finish(bench, body, deferred=())) == ["nothing_left_over"]
    assert bench.texts == []


def test_answered_command_is_not_answered_again(bench: Bench) -> None:
    assert codes(finish(bench, decision="failed")) == ["nothing_left_over"]
    assert bench.texts == []


def test_who_may_not_command_hears_nothing_here_either(bench: Bench) -> None:
    job = Step(may_use_cloud=False, finishes=DeadJob())
    for author in ("bob", "mallory"):
        run = route(bench.context, comment(bench, "/gpu-lol up", author), lambda: POLICY, job)
        assert codes(run) == ["nothing_left_over"]
    assert bench.texts == []


def test_close_and_schedule_are_finished_without_a_word(bench: Bench) -> None:
    step = Step(may_use_cloud=False, finishes=DeadJob())
    scheduled = Scheduled(bench.forge.repo, Requester("schedule"), False)
    closed = PullRequestClosed(bench.forge.repo, bench.forge.pull, Requester("ada", 7))
    for event in (scheduled, closed):
        assert codes(route(bench.context, event, lambda: POLICY, step)) == ["nothing_left_over"]
    write_tombstone(bench.context, bench.running(), Tombstone("ada", "pull_request_closed", START))
    assert route(bench.context, closed, lambda: POLICY, step).deferred == (0,)


def test_machine_that_a_replica_still_calls_in_flight_is_left_alone(bench: Bench) -> None:
    """GitHub may show an older record to the finishing job than the one that the dead job wrote last."""
    bench.running(State.VALIDATING)
    claimed_by_dead_job(bench)
    (older,) = bench.ledger.entries()
    assert isinstance(older, Entry)
    bench.ledger.update(older, replace(older.record, state=State.READY, ready_at=START, launcher_stopped_at=START))
    bench.ledger.entries = lambda: [older]  # type: ignore[method-assign]  # what the replica shows
    finish(bench, decision="done")
    assert bench.record.state is State.READY
    assert bench.record.tombstone is None
    assert older.record.name_on_cloud in bench.cloud.running
