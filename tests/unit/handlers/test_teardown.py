"""The end of a machine under contention and outages: what is certified is true, and what is not certain stays open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import Attempt, EnvironmentRecord, SshEndpoint, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.errors import LostRace, TransientError
from gpu_lol_action.handlers.teardown import (
    Ended,
    Unproven,
    build_bill,
    end_environment,
    mark_launcher_stopped,
    write_tombstone,
)
from tests.support.hands import KEY, START, ScriptedShell
from tests.unit.handlers.conftest import POLICY, Bench

DOWN = Tombstone("ada", "down", START)


def contend(bench: Bench, when: Callable[[EnvironmentRecord], bool], times: int = 1) -> list[State]:
    """Let another run change the record right before such a write, so that the write is lost."""
    update, lost = bench.ledger.update, list[State]()

    def contended(entry: Entry, record: EnvironmentRecord) -> Entry:
        if when(record) and len(lost) < times:
            lost.append(record.state)
            newest = bench.ledger.read(record.name)
            assert isinstance(newest, Entry)
            update(newest, replace(newest.record, region=f"moved {len(lost)}"))
        return update(entry, record)

    bench.ledger.update = contended  # type: ignore[method-assign]  # somebody is a moment faster
    return lost


@pytest.mark.parametrize("state", [State.ENDING, State.CLOSED])
def test_the_end_wins_over_another_runs_change(bench: Bench, state: State) -> None:
    entry = bench.running()
    lost = contend(bench, lambda record: record.state is state, times=3)
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Ended)
    assert lost == [state] * 3
    assert bench.record.state is State.CLOSED
    assert bench.record.region == "moved 3", "the other change is kept"


def test_a_record_that_never_holds_still_is_no_tombstone(bench: Bench) -> None:
    entry = bench.running()
    contend(bench, lambda _record: True, times=99)
    with pytest.raises(TransientError) as raised:
        write_tombstone(bench.context, entry, DOWN)
    assert raised.value.reason_code == "record_contended"
    assert bench.record.state is State.READY


def test_what_is_not_written_down_as_closed_is_not_certified(bench: Bench) -> None:
    entry = bench.running()
    contend(bench, lambda record: record.state is State.CLOSED, times=99)
    with pytest.raises(TransientError) as raised:
        end_environment(bench.context, entry, DOWN, POLICY)
    assert raised.value.reason_code == "record_contended"
    assert bench.record.is_open


def test_the_launchers_stop_is_written_over_another_change(bench: Bench) -> None:
    entry = bench.running(State.LAUNCHING)
    contend(bench, lambda record: record.launcher_stopped_at is not None)
    assert mark_launcher_stopped(bench.context, entry).record.launcher_stopped_at is not None
    assert bench.record.launcher_stopped_at is not None


def test_a_record_that_became_unreadable_is_no_end(bench: Bench) -> None:
    entry = bench.running()
    stale = bench.ledger.update(entry, replace(entry.record, region="EU"))
    bench.ledger._store.append(entry.record.name, stale.version, "{not json", "x")
    with pytest.raises(TransientError) as raised:
        end_environment(bench.context, entry, DOWN, POLICY)
    assert raised.value.reason_code == "record_unreadable"
    assert bench.cloud.running


def test_ending_what_has_ended_changes_nothing(bench: Bench) -> None:
    entry = bench.running()
    first = end_environment(bench.context, entry, DOWN, POLICY)
    bench.clock.sleep(timedelta(hours=1))
    again = end_environment(bench.context, first.entry, Tombstone("bob", "down", bench.clock.now()), POLICY)
    assert again == first


def test_a_launcher_that_stops_while_it_is_waited_for_lets_the_end_be_proven(bench: Bench) -> None:
    entry = bench.running(State.LAUNCHING)
    sleep = bench.clock.sleep

    def stop(duration: timedelta) -> None:
        sleep(duration)
        if bench.clock.now() == START + timedelta(seconds=30):
            newest = bench.ledger.read(entry.record.name)
            assert isinstance(newest, Entry)
            mark_launcher_stopped(bench.context, newest)

    bench.clock.sleep = stop  # type: ignore[method-assign]  # time passes, and something happens
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Ended)
    assert bench.record.state is State.FAILED
    assert bench.record.bill is not None
    assert bench.record.bill.usd > 0


def test_what_a_launcher_that_does_not_stop_has_rented_is_ended_all_the_same(bench: Bench) -> None:
    entry = bench.running(State.LAUNCHING)
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Unproven)
    assert bench.record.is_open
    assert bench.cloud.running == {}


def test_an_outage_in_the_middle_of_the_proof_proves_nothing(bench: Bench) -> None:
    entry = bench.running()
    machines = bench.cloud.machines
    looks: list[str] = []

    def machines_once(cloud: str, prefix: str) -> object:
        looks.append(prefix)
        if len(looks) == 2:
            raise TransientError("cloud_unreachable", "the cloud does not answer")
        return machines(cloud, prefix)

    bench.cloud.machines = machines_once  # type: ignore[assignment,method-assign]  # an outage between two looks
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Unproven)
    assert bench.record.state is State.UNKNOWN
    assert bench.record.absences == ()


REFUSED = Attempt("runpod", "A40", 1, Decimal("0.44"), "no_capacity", "", 3.0)


@pytest.mark.parametrize(
    ("changes", "usd"),
    [
        ({}, Decimal("0.44")),
        ({"earlier_cost_usd": Decimal("0.11")}, Decimal("0.55")),
        ({"ssh": None, "ready_at": None}, Decimal("0.44")),
        ({"launch_asked_at": None, "attempts": (REFUSED,)}, Decimal("0.00")),
        ({"launch_asked_at": None, "attempts": (REFUSED,), "earlier_cost_usd": Decimal("0.11")}, Decimal("0.11")),
        ({"launch_asked_at": None}, None),
        ({"price_usd_per_hour": None}, None),
    ],
)
def test_a_bill_counts_every_machine_that_may_have_been_there(
    bench: Bench, changes: dict[str, object], usd: Decimal | None
) -> None:
    record = replace(bench.running().record, **changes)  # type: ignore[arg-type]  # keyword bag
    bill = build_bill(record, START + timedelta(hours=1))
    assert (bill.usd if bill else None) == usd


def test_a_name_that_is_being_ended_cannot_be_claimed(bench: Bench) -> None:
    entry = bench.running(State.CLAIMED)
    write_tombstone(bench.context, entry, DOWN)
    with pytest.raises(LostRace):
        bench.ledger.claim(replace(entry.record, run_id="99"))


def test_a_machine_that_answers_at_its_address_is_not_gone_whatever_the_list_says(bench: Bench) -> None:
    """A key of another account sees an empty list: nothing of ours is in it, and nothing is proven by it."""
    entry = bench.running(ssh=SshEndpoint("203.0.113.7", 22, "root", KEY))
    machine = ScriptedShell(is_still_there=True)
    bench.shell = machine
    bench.cloud.running.clear()
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Unproven)
    assert "another account" in end.why
    assert bench.record.state is State.UNKNOWN
    assert bench.record.bill is None

    machine.is_still_there = False
    end = end_environment(bench.context, end.entry, DOWN, POLICY)
    assert isinstance(end, Ended)
    assert bench.record.bill is not None


def test_without_a_pinned_host_key_the_list_alone_decides(bench: Bench) -> None:
    bench.shell = ScriptedShell(is_still_there=True)
    assert isinstance(end_environment(bench.context, bench.running(), DOWN, POLICY), Ended)
