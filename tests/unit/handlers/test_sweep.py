from __future__ import annotations

from datetime import timedelta

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.names import repository_prefix
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.down import handle_down
from gpu_lol_action.handlers.sweep import BOOT_GRACE, handle_sweep
from tests.support.hands import START, ScriptedShell
from tests.support.machine import nonce_of
from tests.unit.handlers.conftest import POLICY, Bench


def test_a_lease_that_is_over_ends(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=2, minutes=1)
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "swept"
    assert bench.record.state is State.CLOSED
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "lease_over"
    assert bench.texts


def test_a_running_lease_is_left_alone_and_the_sweep_is_noted(bench: Bench) -> None:
    bench.running()
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY
    assert bench.ledger.last_sweep() == bench.clock.now()


def test_a_dead_runs_launch_ends(bench: Bench) -> None:
    bench.running(State.VALIDATING)
    bench.forge.dead_runs.add("76")
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.FAILED
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "run_died"


def test_a_living_runs_launch_is_left_alone(bench: Bench) -> None:
    bench.running(State.VALIDATING)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.VALIDATING


def test_a_tombstone_whose_end_was_not_proven_is_taken_up(bench: Bench) -> None:
    bench.running()
    bench.cloud.is_silent = True
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bench.cloud.is_silent = False
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.CLOSED
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.by == "ada"


def test_a_machine_without_a_record_ends_after_two_looks(bench: Bench) -> None:
    orphan = repository_prefix(5) + "99-c0ffee00"
    bench.cloud.running[orphan] = START - BOOT_GRACE
    before = bench.clock.now()
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert orphan not in bench.cloud.running
    assert bench.clock.now() > before, "the second look comes later"
    assert outcome.reason_code == "swept"


def test_a_young_machine_without_a_record_gets_its_grace(bench: Bench) -> None:
    orphan = repository_prefix(5) + "99-c0ffee00"
    bench.cloud.running[orphan] = START
    handle_sweep(bench.context, 5, POLICY)
    assert orphan in bench.cloud.running


def test_another_repositorys_machine_is_none_of_ours(bench: Bench) -> None:
    other = repository_prefix(6) + "1-c0ffee00"
    bench.cloud.running[other] = START - timedelta(days=3)
    handle_sweep(bench.context, 5, POLICY)
    assert other in bench.cloud.running


def test_a_silent_cloud_means_that_nothing_is_concluded(bench: Bench) -> None:
    bench.running()
    bench.cloud.is_silent = True
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "sweep_incomplete"
    assert bench.record.state is State.READY
    assert bench.ledger.last_sweep() is None


def test_a_dry_run_ends_nothing_and_notes_nothing(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=3)
    outcome = handle_sweep(bench.context, 5, POLICY, is_dry_run=True)
    assert "would" in outcome.text
    assert bench.record.state is State.READY
    assert bench.ledger.last_sweep() is None
    assert not any(line.startswith("teardown") for line in bench.cloud.log)


def test_a_closed_record_whose_machine_still_runs_is_ended(bench: Bench) -> None:
    bench.running()
    handle_down(bench.context, bench.order("/gpu-lol down"))
    bench.cloud.running[bench.cloud.name_on_cloud(bench.record.name)] = START - BOOT_GRACE
    handle_sweep(bench.context, 5, POLICY)
    assert not bench.cloud.running


def test_one_record_that_cannot_be_ended_does_not_keep_the_sweep_from_the_others(bench: Bench) -> None:
    bench.running()
    orphan = repository_prefix(5) + "99-c0ffee00"
    bench.cloud.running[orphan] = START - BOOT_GRACE
    bench.clock.at = START + timedelta(hours=3)

    def refuse(entry: Entry, record: EnvironmentRecord) -> Entry:
        raise TransientError("github_unreachable", "it did not answer")

    bench.ledger.update = refuse  # type: ignore[method-assign]  # an outage of the ledger's writes
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "sweep_incomplete"
    assert orphan not in bench.cloud.running
    assert bench.record.is_open
    assert bench.ledger.last_sweep() is None


def test_a_refused_key_is_said_and_the_record_stays_open(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=3)
    bench.cloud.refuses_teardowns_of.add(bench.cloud.name_on_cloud(bench.record.name))
    outcome = handle_sweep(bench.context, 5, POLICY)
    assert outcome.reason_code == "sweep_incomplete"
    assert "refuses the key" in outcome.text
    assert bench.record.state is State.UNKNOWN
    bench.assert_nothing_bills_unnoticed()


def _says(**said: int) -> ScriptedShell:
    """A machine that answers a look with these counts."""

    def answer(script: str) -> RemoteOutput:
        nonce = nonce_of(script)
        lines = [f"::gpu-lol-look {nonce} {key} {value}" for key, value in said.items()]
        return RemoteOutput(0, "\n".join([*lines, f"::gpu-lol-look {nonce} done ."]), "")

    return ScriptedShell([("gpu-lol-look", answer)])


UNUSED = {"idle_seconds": 3700, "changed": 0, "untracked": 0, "unpushed": 0}


def test_a_machine_that_nobody_uses_ends_where_nothing_is_lost(bench: Bench) -> None:
    bench.running()
    bench.shell = _says(**UNUSED)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "idle"
    assert "nobody used it" in bench.texts[-1]


def test_unsaved_work_on_an_unused_machine_is_told_first_and_ends_half_an_hour_later(bench: Bench) -> None:
    bench.running(lease=Lease(START, START + timedelta(hours=9)))
    bench.shell = _says(**{**UNUSED, "changed": 3})
    handle_sweep(bench.context, 5, POLICY)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY
    assert len(bench.texts) == 1, "told once"
    assert "@ada" in bench.texts[0]
    assert "3 changed files" in bench.texts[0]
    bench.clock.at += timedelta(minutes=31)
    bench.shell = _says(**{**UNUSED, "changed": 3, "idle_seconds": 3700 + 31 * 60})
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.CLOSED


def test_the_end_of_a_lease_is_told_once_before_it_comes(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(minutes=40)
    for _ in range(3):
        handle_sweep(bench.context, 5, POLICY)
    warnings = [text for text in bench.texts if "of=lease" in text]
    assert len(warnings) == 1
    assert "in 1 h 20 min" in warnings[0]
    assert bench.record.state is State.READY


def test_a_dry_run_tells_nobody(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(minutes=40)
    outcome = handle_sweep(bench.context, 5, POLICY, is_dry_run=True)
    assert not bench.texts
    assert bench.record.warned is None
    assert "its requester is told" in outcome.text


def test_a_machine_that_does_not_answer_a_look_is_left_to_its_lease(bench: Bench) -> None:
    bench.running()
    bench.shell = ScriptedShell()
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY


def test_a_machine_that_is_not_there_any_more_is_certified_and_billed(bench: Bench) -> None:
    bench.running()
    bench.cloud.running.clear()
    bench.clock.at = START + timedelta(minutes=10)
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.CLOSED
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "machine_gone"
    assert len(bench.record.absences) == 2
    assert "ended itself, was taken away" in bench.texts[-1]


@pytest.mark.parametrize(
    ("use_spot", "says"), [(True, "a spot machine is taken back"), (False, "by hand, with its host")]
)
def test_a_machine_that_its_cloud_stopped_is_ended_before_its_disk_costs_on(
    bench: Bench, use_spot: bool, says: str
) -> None:
    bench.running(use_spot=use_spot)
    bench.cloud.stopped = set(bench.cloud.running)
    bench.clock.at = START + timedelta(minutes=10)
    handle_sweep(bench.context, 5, POLICY)
    assert not bench.cloud.running
    assert bench.record.state is State.CLOSED
    assert bench.record.tombstone is not None
    assert bench.record.tombstone.reason == "machine_stopped"
    assert says in bench.texts[-1]
    assert "nothing could be saved any more" in bench.texts[-1]
    assert "Nothing is running" in bench.texts[-1]


def test_a_machine_that_looked_stopped_once_is_left_alone(bench: Bench) -> None:
    bench.running()
    bench.cloud.stopped = set(bench.cloud.running)
    sleep = bench.clock.sleep

    def start_again(duration: timedelta) -> None:
        bench.cloud.stopped.clear()
        sleep(duration)

    bench.clock.sleep = start_again  # type: ignore[method-assign]  # what happens between the two looks
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY
    assert bench.cloud.running


def test_a_machine_on_a_cloud_that_is_silent_or_has_no_key_here_is_not_taken_for_gone(bench: Bench) -> None:
    bench.running()
    bench.cloud.running.clear()
    bench.cloud.is_silent = True
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY
    bench.settle(clouds=())
    handle_sweep(bench.context, 5, POLICY)
    assert bench.record.state is State.READY
