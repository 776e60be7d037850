"""Moments at which two runs, a late machine or an outage could leave something billing, or end what is another's."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import Machine, NotLaunched
from gpu_lol_action.domain.names import environment_name, repository_prefix
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers import journal
from gpu_lol_action.handlers.answers import pull_request_usd
from gpu_lol_action.handlers.down import handle_down, mark_down
from gpu_lol_action.handlers.sweep import BOOT_GRACE, handle_sweep
from gpu_lol_action.handlers.teardown import Ended, end_environment, write_tombstone
from gpu_lol_action.handlers.up import handle_up
from tests.support.hands import START
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

DOWN = Tombstone("ada", "down", START)
ANY_CARD = "hardware: {gpu_count: 1, vram_required_gb: 20}\nmeta: {workload_type: training}\n"
REFUSAL = NotLaunched("no_capacity", "no machine now", is_certain=True)


def claim_again(bench: Bench) -> str:
    """Another run claims the closed name and has a machine; returns the name on the cloud."""
    newer = replace(
        bench.record,
        state=State.CLAIMED,
        run_id="99",
        claimed_at=bench.clock.now(),
        lease=Lease(bench.clock.now(), bench.clock.now() + timedelta(hours=2)),
        tombstone=None,
        closed_at=None,
        absences=(),
        bill=None,
        launcher_stopped_at=None,
    )
    entry = bench.ledger.claim(newer)
    bench.ledger.update(entry, replace(newer, state=State.LAUNCHING))
    assert newer.name_on_cloud is not None
    bench.cloud.running[newer.name_on_cloud] = bench.clock.now()
    return newer.name_on_cloud


def test_an_end_that_comes_late_does_not_reach_a_newer_claims_machine(bench: Bench) -> None:
    """A sweep lists every record first, and ends one after the other: minutes later a name may be another claim's."""
    stale = write_tombstone(bench.context, bench.running(), DOWN)
    assert isinstance(end_environment(bench.context, stale, DOWN, POLICY), Ended)
    name = claim_again(bench)
    end = end_environment(bench.context, stale, DOWN, POLICY)
    assert isinstance(end, Ended)
    assert end.entry.record.run_id == "76"
    assert name in bench.cloud.running


def test_a_proof_that_another_run_overtook_does_not_end_the_newer_claims_machine(bench: Bench) -> None:
    entry = bench.running()
    sleep, overtaken = bench.clock.sleep, list[str]()

    def overtake(duration: timedelta) -> None:
        sleep(duration)
        if duration == POLICY.absence_interval and not overtaken:
            overtaken.append("")
            newest = bench.ledger.read(entry.record.name)
            assert isinstance(newest, Entry)
            assert isinstance(end_environment(bench.context, newest, DOWN, POLICY), Ended)
            overtaken[0] = claim_again(bench)

    bench.clock.sleep = overtake  # type: ignore[method-assign]  # another run ends it and a third claims the name
    end = end_environment(bench.context, entry, DOWN, POLICY)
    assert isinstance(end, Ended)
    assert end.entry.record.run_id == "76"
    assert overtaken[0] in bench.cloud.running


def test_a_run_that_died_between_two_offers_leaves_no_record_that_never_closes(bench: Bench) -> None:
    bench.running(State.LAUNCHING, launch_asked_at=None)
    bench.cloud.running.clear()
    bench.forge.dead_runs.add("76")
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
    assert bench.record.state is State.FAILED
    assert len(bench.record.absences) == 2


def test_a_machine_that_shows_after_its_try_was_given_up_is_ended_and_billed(bench: Bench) -> None:
    """The first look may come before the provider lists what it was asked for a moment ago."""
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    bench.shell = GoodMachine()
    sleep = bench.clock.sleep
    late = bench.cloud.name_on_cloud(environment_name(5, 12))
    shown: list[str] = []

    def sleeping(duration: timedelta) -> None:
        sleep(duration)
        if not shown and "list" in bench.cloud.log:
            shown.append(late)
            bench.cloud.running[late] = bench.clock.now()

    bench.clock.sleep = sleeping  # type: ignore[method-assign]  # time passes, and something shows
    bench.cloud.answers = [NotLaunched("timed_out", "time was up"), *[REFUSAL] * 9]
    assert handle_up(bench.context, bench.order()).reason_code == "no_capacity"
    assert bench.cloud.running == {}
    assert bench.record.bill is not None
    assert bench.record.bill.usd > 0


def test_a_try_that_may_have_had_a_machine_is_billed_although_none_is_listed(bench: Bench) -> None:
    """SkyPilot ends itself what it could not set up: the provider bills it, and nobody lists it any more."""
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    bench.cloud.boots_in = timedelta(minutes=10)
    bench.cloud.answers = [NotLaunched("failed", "ray did not start"), *[REFUSAL] * 9]
    assert handle_up(bench.context, bench.order()).reason_code == "no_capacity"
    assert bench.record.bill is not None
    assert bench.record.bill.usd > 0


def test_a_watcher_tries_again_until_the_launch_is_cancelled(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "TOMBSTONE_POLL_SECONDS", 0.01)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    cancelled, cancel, troubles = threading.Event(), bench.cloud.cancel, [RuntimeError("processes stay")]
    version, breaks = bench.ledger.version, [KeyError("object")]

    def note() -> None:
        if troubles:
            raise troubles.pop()
        cancel()
        cancelled.set()

    def look(name: str) -> str | None:
        if breaks:
            raise breaks.pop()
        return version(name)

    bench.cloud.cancel = note  # type: ignore[method-assign]  # fails once
    bench.ledger.version = look  # type: ignore[method-assign]  # breaks once

    def block() -> NotLaunched:
        mark_down(bench.context, bench.order("/gpu-lol down"))
        assert cancelled.wait(60), "the watcher gave up"
        return NotLaunched("cancelled", "cancelled")

    bench.cloud.answers = [block]
    assert handle_up(bench.context, bench.order()).reason_code == "stopped"
    assert len(bench.progress.failures) == 2


def test_an_interrupt_while_the_ledger_is_out_of_reach_ends_the_machine_all_the_same(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    bench.shell = GoodMachine(before=lambda _kind: interrupt(bench))
    with pytest.raises(KeyboardInterrupt):
        handle_up(bench.context, bench.order())
    assert bench.cloud.running == {}
    assert bench.record.is_open, "nothing is certified by this"


def interrupt(bench: Bench) -> None:
    def refuse(entry: Entry, record: EnvironmentRecord) -> Entry:
        raise TransientError("github_unreachable", "it did not answer")

    bench.ledger.update = refuse  # type: ignore[method-assign]  # an outage
    raise KeyboardInterrupt


def test_down_of_a_profile_that_does_not_run_ends_no_other(bench: Bench) -> None:
    """Also where the light step had marked that profile and it is gone by now."""
    bench.running()
    outcome = handle_down(bench.context, bench.order("/gpu-lol down big", profile="big"))
    assert outcome.reason_code == "unknown_machine"
    assert "Nothing is running" not in outcome.text, "another one is, and costs money"
    assert "`gl-au-12` runs at $0.44/h" in outcome.text
    assert bench.record.state is State.READY
    assert bench.cloud.running


def test_a_profiles_record_that_cannot_be_read_is_not_nothing(bench: Bench) -> None:
    bench.ledger._store.create(environment_name(5, 12, "big"), "{not json", "x")
    outcome = handle_down(bench.context, bench.order("/gpu-lol down big", profile="big"))
    assert outcome.reason_code == "teardown_unproven"


def test_a_fault_about_one_record_does_not_end_the_sweep(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=3)
    orphan = repository_prefix(5) + "99-c0ffee00"
    bench.cloud.running[orphan] = START

    def break_down(entry: Entry, record: EnvironmentRecord) -> Entry:
        raise ValueError("no environment goes there")

    bench.ledger.update = break_down  # type: ignore[method-assign]  # our bug
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "sweep_incomplete"
    assert orphan not in bench.cloud.running
    assert bench.progress.failures


def test_a_profiles_machine_without_a_record_is_not_hidden_by_the_default_ones(bench: Bench) -> None:
    bench.running()
    orphan = bench.cloud.name_on_cloud(environment_name(5, 12, "big"))
    bench.cloud.running[orphan] = START - BOOT_GRACE
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
    assert orphan not in bench.cloud.running
    assert bench.record.name_on_cloud in bench.cloud.running


def test_a_stray_of_the_same_name_on_another_cloud_is_without_a_record(bench: Bench) -> None:
    name = bench.running().record.name_on_cloud
    assert name is not None
    bench.settle(clouds=("runpod", "lambda"))
    stray, ended = [Machine("lambda", name, "active")], list[str]()
    machines, teardown = bench.cloud.machines, bench.cloud.teardown

    def end(cloud: str, name_on_cloud: str, provider_config: dict[str, str]) -> None:
        if cloud != "lambda":
            teardown(cloud, name_on_cloud, provider_config)
            return
        ended.append(name_on_cloud)
        stray.clear()

    bench.cloud.machines = lambda cloud, prefix: list(stray) if cloud == "lambda" else machines(cloud, prefix)  # type: ignore[method-assign]  # two clouds
    bench.cloud.teardown = end  # type: ignore[assignment,method-assign]  # two clouds
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
    assert ended == [name]
    assert name in bench.cloud.running


def test_a_machine_whose_name_was_claimed_while_others_were_ended_is_left_alone(bench: Bench) -> None:
    bench.running()
    handle_down(bench.context, bench.order("/gpu-lol down"))
    other = repository_prefix(5) + "0-c0ffee00"
    name = bench.record.name_on_cloud
    assert name is not None
    bench.cloud.running = {other: START - BOOT_GRACE, name: START - BOOT_GRACE}
    teardown = bench.cloud.teardown

    def claim_then_end(cloud: str, name_on_cloud: str, provider_config: dict[str, str]) -> None:
        if name_on_cloud == other:
            claim_again(bench)
        teardown(cloud, name_on_cloud, provider_config)

    bench.cloud.teardown = claim_then_end  # type: ignore[assignment,method-assign]  # an `up` in between
    handle_sweep(bench.context, 5, POLICY)
    assert other not in bench.cloud.running
    assert name in bench.cloud.running


def test_a_terminals_sweep_ends_nobody_elses_machine(bench: Bench) -> None:
    """Its ledger is a folder of its own: that it has no record of somebody's machine says nothing."""
    mine = bench.cloud.name_on_cloud(environment_name(5, None, "", "ada"))
    others = {bench.cloud.name_on_cloud(environment_name(5, *who)) for who in [(None, "", "eve"), (12, "", "")]}
    bench.cloud.running = dict.fromkeys((mine, *others), START - BOOT_GRACE)
    handle_sweep(bench.context, 5, POLICY, owner="ada")
    assert set(bench.cloud.running) == others


def test_an_offer_that_the_budget_does_not_cover_is_not_tried_after_one_that_it_does(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(ANY_CARD)
    bench.cloud.answers = [REFUSAL] * 9
    handle_up(bench.context, bench.order())
    prices = [attempt.price_usd_per_hour for attempt in bench.record.attempts]
    assert prices[-1] > prices[0], "the ladder climbs"
    hours = Decimal(str((POLICY.lease + POLICY.sweep_interval + timedelta(minutes=10)).total_seconds())) / 3600
    policy = replace(POLICY, month_usd=prices[0] * hours)
    bench.cloud.answers = [REFUSAL] * 9
    handle_up(bench.context, bench.order(policy=policy))
    tried = [attempt.price_usd_per_hour for attempt in bench.record.attempts]
    assert tried
    assert max(tried) * hours <= policy.month_usd * Decimal("1.05")
    assert max(tried) < prices[-1]


def test_one_machine_that_cannot_be_ended_does_not_keep_the_others_running(bench: Bench) -> None:
    stuck, other = (repository_prefix(5) + f"{number}-c0ffee00" for number in (98, 99))
    bench.cloud.running = dict.fromkeys((stuck, other), START - BOOT_GRACE)
    bench.cloud.refuses_teardowns_of.add(stuck)
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "sweep_incomplete"
    assert set(bench.cloud.running) == {stuck}


def test_the_pull_requests_total_counts_every_life_of_a_name(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=1)
    handle_down(bench.context, bench.order("/gpu-lol down"))
    claim_again(bench)
    bench.forge.dead_runs.add("99")
    bench.clock.sleep(timedelta(hours=1))
    handle_down(bench.context, bench.order("/gpu-lol down"))
    assert bench.record.bill is not None
    assert (
        pull_request_usd(bench.ledger.survey(), bench.record, bench.clock.now())
        == bench.ledger.bills_usd(START)
        > bench.record.bill.usd
    )


def hand_over_when_asked_after(bench: Bench) -> None:
    """The launching run hands over and ends between the sweeper's look at its record and its look at the run."""
    is_run_alive = bench.forge.is_run_alive

    def asked(run_id: str) -> bool:
        entry = bench.ledger.read(environment_name(5, 12))
        if isinstance(entry, Entry) and entry.record.state is State.VALIDATING:
            now = bench.clock.now()
            bench.ledger.update(entry, replace(entry.record, state=State.READY, ready_at=now, launcher_stopped_at=now))
            bench.forge.dead_runs.add(run_id)
        return is_run_alive(run_id)

    bench.forge.is_run_alive = asked  # type: ignore[method-assign]  # another run goes on meanwhile


def test_a_machine_that_was_handed_over_while_its_run_was_looked_up_is_left_alone(bench: Bench) -> None:
    entry = bench.running(State.VALIDATING)
    hand_over_when_asked_after(bench)
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
    assert bench.record.state is State.READY
    assert bench.record.tombstone is None
    assert entry.record.name_on_cloud in bench.cloud.running


def test_a_lease_that_was_extended_while_it_was_swept_runs_on(bench: Bench) -> None:
    entry = bench.running()
    bench.clock.sleep(timedelta(hours=3))
    survey = bench.ledger.survey

    def extend_after(*_given: object) -> object:
        seen = survey()
        bench.ledger.survey = survey  # type: ignore[method-assign]  # once
        longer = replace(entry.record, lease=Lease(START, START + timedelta(hours=5)))
        bench.ledger.update(entry, longer)
        return seen

    bench.ledger.survey = extend_after  # type: ignore[method-assign,assignment]  # its requester is a moment faster
    assert handle_sweep(bench.context, 5, POLICY).reason_code == "swept"
    assert bench.record.is_open
    assert bench.record.tombstone is None
    assert entry.record.name_on_cloud in bench.cloud.running
