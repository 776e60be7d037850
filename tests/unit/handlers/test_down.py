from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import Requester, State, Tombstone
from gpu_lol_action.domain.request import PullRequestClosed
from gpu_lol_action.handlers.down import handle_closed, handle_down, mark_down
from tests.support.hands import START
from tests.unit.handlers.conftest import POLICY, Bench


def test_down_proves_the_absence_twice_apart_and_writes_the_bill(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(minutes=30)
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    record = bench.record
    assert outcome.reason_code == "torn_down"
    assert record.state is State.CLOSED
    assert len(record.absences) == 2
    assert record.absences[1] - record.absences[0] >= POLICY.absence_interval
    assert record.bill is not None
    assert record.bill.usd == Decimal("0.22")
    assert record.tombstone == Tombstone("ada", "down", START + timedelta(minutes=30))
    assert "$0.22" in bench.texts[-1]
    assert "Nothing is running" in bench.texts[-1]


def test_down_twice_says_that_nothing_runs_and_keeps_the_first_bill(bench: Bench) -> None:
    bench.running()
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bill = bench.record.bill
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.reason_code == "nothing_to_tear_down"
    assert bench.record.bill == bill


def test_down_does_not_certify_while_the_cloud_is_silent(bench: Bench) -> None:
    bench.running()
    bench.cloud.is_silent = True
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.decision == "failed"
    assert bench.record.state is State.UNKNOWN
    assert bench.record.is_open
    assert bench.record.bill is None
    assert "Nothing is running" not in bench.texts[-1]
    bench.cloud.is_silent = False
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"


def test_a_machine_that_comes_back_is_ended_again_before_anything_is_certified(bench: Bench) -> None:
    bench.running()
    bench.cloud.survives_teardowns = 2
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert sum(line.startswith("teardown") for line in bench.cloud.log) == 3
    assert not bench.cloud.running


def test_a_machine_that_never_goes_is_not_certified(bench: Bench) -> None:
    bench.running()
    bench.cloud.survives_teardowns = 99
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.reason_code == "teardown_unproven"
    assert bench.record.is_open


def test_down_waits_for_a_living_launcher_and_certifies_nothing_before_it_stopped(bench: Bench) -> None:
    bench.running(State.LAUNCHING)
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.reason_code == "teardown_unproven"
    assert bench.record.tombstone is not None
    assert bench.record.state is State.ENDING


def test_down_goes_on_when_the_launching_run_is_dead(bench: Bench) -> None:
    bench.running(State.LAUNCHING)
    bench.forge.dead_runs.add("76")
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert bench.record.state is State.FAILED


def test_a_claim_from_which_nothing_was_launched_ends_without_a_cloud_and_without_a_bill(bench: Bench) -> None:
    bench.running(State.CLAIMED)
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert bench.cloud.log == []
    assert bench.record.bill is None


def test_the_light_step_writes_the_tombstone_and_touches_no_cloud(bench: Bench) -> None:
    bench.running()
    assert mark_down(bench.context, bench.order("/gpu-lol down"))
    assert bench.record.state is State.ENDING
    assert bench.cloud.log == []


def test_closing_the_pull_request_ends_its_machine_and_says_who_did(bench: Bench) -> None:
    bench.running()
    closed = replace(bench.forge.pull, state="closed", is_merged=True)
    outcome = handle_closed(bench.context, PullRequestClosed(bench.forge.repo, closed, Requester("bob")), POLICY)
    assert outcome.reason_code == "torn_down"
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "pull_request_merged"


def test_another_pull_requests_machine_is_left_alone(bench: Bench) -> None:
    bench.running()
    bench.forge.pull = replace(bench.forge.pull, number=13)
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "nothing_to_tear_down"
    assert bench.cloud.running


def test_a_certificate_that_cannot_be_posted_does_not_undo_the_end(bench: Bench) -> None:
    bench.running()
    bench.forge.is_read_only = True
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.reason_code == "torn_down"
    assert "Nothing is running" in outcome.text
    assert bench.record.state is State.CLOSED
