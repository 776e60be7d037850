from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord, Requester, SshEndpoint, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.domain.request import PullRequestClosed
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.down import handle_closed, handle_down, mark_down
from gpu_lol_action.handlers.teardown import Ended, end_environment
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


def second_profile(bench: Bench) -> Entry:
    """Another environment of the same pull request."""
    first = bench.record
    name = environment_name(5, 12, "big")
    claim = replace(
        first,
        name=name,
        profile="big",
        state=State.CLAIMED,
        cloud=None,
        name_on_cloud=None,
        price_usd_per_hour=None,
        launch_asked_at=None,
        launcher_stopped_at=None,
        ready_at=None,
        ssh=None,
        tombstone=None,
    )
    entry = bench.ledger.claim(claim)
    asked = replace(
        claim,
        state=State.LAUNCHING,
        cloud="runpod",
        accelerator="A40",
        accelerator_count=1,
        price_usd_per_hour=Decimal("0.44"),
        name_on_cloud=bench.cloud.name_on_cloud(name),
        launch_asked_at=START,
    )
    entry = bench.ledger.update(entry, asked)
    bench.cloud.running[bench.cloud.name_on_cloud(name)] = START
    entry = bench.ledger.update(
        entry, replace(asked, state=State.VALIDATING, ssh=SshEndpoint("203.0.113.8", 22, "root"))
    )
    return bench.ledger.update(
        entry, replace(entry.record, state=State.READY, ready_at=START, launcher_stopped_at=START)
    )


def test_one_end_that_fails_does_not_keep_the_others_from_ending(bench: Bench) -> None:
    bench.running()
    other = second_profile(bench).record
    assert other.name_on_cloud is not None
    bench.cloud.refuses_teardowns_of.add(bench.cloud.name_on_cloud(bench.record.name))
    outcome = handle_down(bench.context, bench.order("/gpu-lol down", is_all=True))
    assert outcome.reason_code == "teardown_unproven"
    assert other.name_on_cloud not in bench.cloud.running
    assert bench.record.state is State.UNKNOWN
    bench.assert_nothing_bills_unnoticed()


def test_one_record_that_cannot_be_written_does_not_keep_the_others_from_ending(bench: Bench) -> None:
    bench.running()
    other = second_profile(bench).record
    update = bench.ledger.update

    def contended(entry: Entry, record: EnvironmentRecord) -> Entry:
        if record.name == bench.record.name:
            raise TransientError("github_unreachable", "it did not answer")
        return update(entry, record)

    bench.ledger.update = contended  # type: ignore[method-assign]  # an outage for one ref
    outcome = handle_down(bench.context, bench.order("/gpu-lol down", is_all=True))
    assert outcome.reason_code == "teardown_unproven"
    assert other.name_on_cloud not in bench.cloud.running
    assert "may still run" in outcome.text
    assert bench.record.name in outcome.text


@pytest.mark.parametrize("number", [12, 1])
def test_a_record_that_cannot_be_read_is_never_nothing_to_tear_down(bench: Bench, number: int) -> None:
    bench.ledger._store.create(environment_name(5, 12), "{not json", "x")
    bench.forge.pull = replace(bench.forge.pull, number=number)
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    closed = handle_closed(
        bench.context, PullRequestClosed(bench.forge.repo, bench.forge.pull, Requester("bob")), POLICY
    )
    if number == 1:
        assert outcome.reason_code == closed.reason_code == "nothing_to_tear_down"
        return
    assert outcome.reason_code == closed.reason_code == "teardown_unproven"
    assert "counts as running" in bench.texts[-1]
    assert environment_name(5, 12) in bench.texts[-1]


def test_a_down_that_meets_a_newer_claim_leaves_it_alone(bench: Bench) -> None:
    stale = bench.running()
    handle_down(bench.context, bench.order("/gpu-lol down"))
    newer = replace(
        bench.record, state=State.CLAIMED, run_id="99", tombstone=None, closed_at=None, bill=None, absences=()
    )
    bench.ledger.claim(newer)
    end = end_environment(bench.context, stale, Tombstone("ada", "down", bench.clock.now()), POLICY)
    assert isinstance(end, Ended)
    assert end.entry.record.run_id == "76"
    assert end.entry.record.bill is not None
    assert bench.record == newer


def test_down_asks_which_where_several_run_and_all_ends_them(bench: Bench) -> None:
    bench.running()
    second_profile(bench)
    assert not mark_down(bench.context, bench.order("/gpu-lol down"))
    outcome = handle_down(bench.context, bench.order("/gpu-lol down"))
    assert outcome.reason_code == "several_environments"
    assert bench.record.state is State.READY
    assert handle_down(bench.context, bench.order("/gpu-lol down", is_all=True)).reason_code == "torn_down"
    assert bench.cloud.running == {}


def test_down_ends_what_its_light_step_marked_although_another_was_claimed_since(bench: Bench) -> None:
    bench.running()
    assert mark_down(bench.context, bench.order("/gpu-lol down"))
    other = second_profile(bench).record
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert bench.record.state is State.CLOSED
    assert other.name_on_cloud in bench.cloud.running


def test_a_second_down_goes_on_with_what_is_marked_and_needs_the_cloud_for_it(bench: Bench) -> None:
    """The light step has no cloud: what is marked already is left to the step that has."""
    bench.running()
    assert mark_down(bench.context, bench.order("/gpu-lol down"))
    other = second_profile(bench).record
    assert mark_down(bench.context, bench.order("/gpu-lol down"))
    assert bench.cloud.log == []
    assert bench.ledger.read(other.name).record.tombstone is None  # type: ignore[union-attr]  # it can be read
