"""Smoke tests from the plan to the report: three results, and no machine afterwards, whatever happened."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.smoke_book import StoredSmokeBook
from gpu_lol_action.domain.environment import Requester, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.request import Command, Outcome, Scheduled
from gpu_lol_action.domain.smoke import SmokeResult, SmokeRun
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers.finish import DeadJob, tie_up
from gpu_lol_action.handlers.obey import DEFERRED
from gpu_lol_action.handlers.smoke import RETRY_PAUSE, handle_smoke
from gpu_lol_action.handlers.sweep import reason_to_end
from gpu_lol_action.handlers.teardown import write_tombstone
from tests.support.hands import HEAD, START, pull_request
from tests.support.machine import GOOD, GoodMachine, smoke_answer
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
smoke: {command: "python -m pytest tests", timeout_minutes: 5}
"""
TWO = SPEC.replace("timeout_minutes: 5", "timeout_minutes: 5, images: [one/image:1, two/image:2]")
NO_CAPACITY = NotLaunched("no_capacity", "no machine now", is_certain=True)
RED = b"""<testsuites><testsuite name="pytest"><testcase classname="tests.test_gpu" name="test_adds" time="0.5"/>
<testcase classname="tests.test_gpu" name="test_shape" time="2"><failure message="assert 3 == 4">tests/test_gpu.py:7: AssertionError</failure></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def machine() -> GoodMachine:
    return GoodMachine()


@pytest.fixture
def bench(bench: Bench, machine: GoodMachine, tmp_path: Path) -> Iterator[Bench]:
    """The default branch as it stands, whose smoke test a schedule starts."""
    spec(bench, SPEC)
    bench.shell = machine
    bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
    bench.context = replace(bench.context, smoke_book=lambda: StoredSmokeBook(FileStore(tmp_path / "smoke")))
    yield bench
    bench.assert_nothing_bills_unnoticed()
    assert not bench.cloud.running, "a smoke test leaves no machine, however it ends"


def spec(bench: Bench, text: str) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(text)


def smoke(bench: Bench, *, retries_for: timedelta = timedelta(0), **changes: object) -> Outcome:
    command = replace(Command("smoke", "schedule"), **changes)  # type: ignore[arg-type]  # keyword bag
    order = bench.order(policy=replace(POLICY, smoke_retry_within=retries_for))
    return handle_smoke(bench.context, replace(order, command=command, comment_id=None))


def booked(bench: Bench) -> list[SmokeRun]:
    assert bench.context.smoke_book is not None
    return list(bench.context.smoke_book().read("main").runs)


def said(bench: Bench, **changes: object) -> SmokeRun:
    smoke(bench, **changes)  # type: ignore[arg-type]  # keyword bag
    return booked(bench)[-1]


def entry_of(bench: Bench) -> Entry:
    return next(entry for entry in bench.ledger.entries() if isinstance(entry, Entry))


def launches(bench: Bench) -> int:
    return sum(line.startswith("launch ") for line in bench.cloud.log)


def records(bench: Bench) -> list[State]:
    return [entry.record.state for entry in bench.ledger.entries() if isinstance(entry, Entry)]


# --- the three results -----------------------------------------------------------------------------------------------


def test_a_test_that_passes_is_booked_with_what_it_ran_on(bench: Bench, machine: GoodMachine) -> None:
    outcome = smoke(bench)
    (run,) = booked(bench)
    assert (outcome.decision, outcome.reason_code) == ("done", "smoke_passed")
    assert (run.result, run.reason_code, run.sha, run.exit_code) == (SmokeResult.PASSED, "passed", HEAD, 0)
    assert run.tests is not None
    assert (run.tests.passed, run.tests.failed) == (2, 0)
    assert run.tests.slowest[0].name == "tests/test_gpu.py::test_shape"
    assert (run.machine.driver, run.machine.cuda, run.machine.torch) == ("570.1", "12.4", "2.4.0+cu124")
    assert run.took == timedelta(seconds=7)
    assert run.cost_usd is not None
    assert run.is_clean
    assert machine.kinds[-1] == "smoke"
    assert records(bench) == [State.CLOSED]
    assert "2 passed" in bench.progress.lines, "the log is shown as it comes"
    assert not any("::gpu-lol-smoke" in line for line in bench.progress.lines)
    assert bench.texts == [], "what a schedule began stands in no conversation"
    assert "**Nothing is running.**" in outcome.text


def test_a_test_that_fails_is_named(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, log="E assert 3 == 4\n", exit_code=1, report=RED)
    outcome = smoke(bench)
    (run,) = booked(bench)
    assert (outcome.decision, outcome.reason_code) == ("failed", "smoke_failed")
    assert (run.result, run.reason_code) == (SmokeResult.FAILED, "tests_failed")
    assert run.tests is not None
    assert [case.name for case in run.tests.failures] == ["tests/test_gpu.py::test_shape"]
    assert "tests/test_gpu.py::test_shape" in outcome.text


def test_red_exit_says_what_its_report_lacks(bench: Bench, machine: GoodMachine) -> None:
    whys = []
    for report in (b"", b"<html/>", GREEN):
        machine.instead["smoke"] = lambda nonce, report=report: smoke_answer(nonce, exit_code=139, report=report)
        whys.append(said(bench).why)
    assert "exit status 139" in whys[0]
    assert "It left no test report." in whys[0]
    assert "could not be read: it is no JUnit report" in whys[1]
    assert "None of the 2 tests in its report failed." in whys[2]


GREEN = RED.replace(b'<failure message="assert 3 == 4">tests/test_gpu.py:7: AssertionError</failure>', b"")


def test_green_exit_with_failed_tests_in_its_report_says_so(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=0, report=RED)
    run = said(bench)
    assert run.result is SmokeResult.PASSED
    assert "although its report names 1 failed" in run.why


def test_the_time_box_is_a_failure_and_the_machine_ends(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=124, seconds=300, report=b"")
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.FAILED, "time_box_over")


def test_a_command_that_ends_with_124_of_its_own_accord_is_no_time_box(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=124, seconds=9)
    assert said(bench).reason_code == "tests_failed"


def test_no_tests_is_a_failure_with_its_remedy(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=5, report=b"")
    run = said(bench)
    assert run.reason_code == "no_tests"
    assert "Mark tests" in run.remedy


def test_set_up_that_fails_is_the_codes_failure(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["setup"] = lambda nonce: (
        f"::gpu-lol-setup {nonce} start requirements\nno such package\n::gpu-lol-setup {nonce} end requirements 1 4\n"
    )
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.FAILED, "setup_failed")
    assert "smoke" not in machine.kinds
    assert run.exit_code is None


def test_machine_that_fails_its_checks_is_no_failure_of_the_code(bench: Bench, machine: GoodMachine) -> None:
    broken = copy.deepcopy(GOOD)
    broken["gpu"]["driver"]["gpus"][0]["driver_version"] = "450.1"
    broken["gpu"]["driver"]["cuda"] = "11.0"
    machine.facts = [broken]
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "machine_driver")
    assert "smoke" not in machine.kinds


def test_packages_that_lack_are_a_failure_of_the_code(bench: Bench, machine: GoodMachine) -> None:
    broken = copy.deepcopy(GOOD)
    broken["packages"] = {"found": {}}
    machine.facts = [broken]
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.FAILED, "packages_failed")
    assert "repair" in machine.kinds, "what lacks is installed once before it is told"


# --- not run ---------------------------------------------------------------------------------------------------------


def test_no_machine_anywhere_is_not_run_with_the_offers_that_were_tried(bench: Bench) -> None:
    bench.cloud.answers = [NO_CAPACITY] * 20
    outcome = smoke(bench)
    (run,) = booked(bench)
    assert (outcome.decision, outcome.reason_code) == ("done", "smoke_not_run")
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "no_capacity")
    assert run.offers
    assert "gpu_type" in run.remedy
    assert all("no capacity" in offer for offer in run.offers)
    assert run.offers[0] in outcome.text.replace("\\", "")


def test_machine_that_is_lost_during_the_test_is_not_run(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = TransientError("machine_unreachable", "The machine cannot be reached.")
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "machine_unreachable")


@pytest.mark.parametrize("is_stopped", [False, True])
def test_machine_that_the_cloud_took_during_the_test_is_told_as_that(
    bench: Bench, machine: GoodMachine, is_stopped: bool
) -> None:
    def take(_nonce: str) -> str:
        if is_stopped:
            bench.cloud.stopped = set(bench.cloud.running)
        else:
            bench.cloud.running.clear()
        raise TransientError("machine_unreachable", "The machine cannot be reached.")

    machine.instead["smoke"] = take
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "machine_lost")
    assert "while the test ran" in run.why
    assert "another machine" in run.remedy


def test_connection_that_ends_before_the_test_is_done_is_not_run(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda _nonce: "collected 2 items\n"
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "test_not_run")
    assert "connection ended" in run.why


def test_words_of_the_test_that_look_like_our_own_count_for_nothing(bench: Bench, machine: GoodMachine) -> None:
    forged = "::gpu-lol-smoke 0123456789abcdef exit 0\n::gpu-lol-smoke 0123456789abcdef done .\n"
    machine.instead["smoke"] = lambda nonce: forged + smoke_answer(nonce, exit_code=1)
    assert said(bench).result is SmokeResult.FAILED


def test_down_during_the_test_stops_it(bench: Bench, machine: GoodMachine) -> None:
    def stop(nonce: str) -> str:
        entry = next(entry for entry in bench.ledger.entries() if isinstance(entry, Entry))
        write_tombstone(bench.context, entry, Tombstone("ada", "down", bench.clock.now()))
        return smoke_answer(nonce)

    machine.instead["setup"] = stop
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "stopped")
    assert run.why == "It was stopped: `ada` took the machine down (`/gpu-lol down`)."


def test_down_while_the_command_runs_is_told_as_that_and_nothing_is_rented_again(
    bench: Bench, machine: GoodMachine
) -> None:
    def end(_nonce: str) -> str:
        write_tombstone(bench.context, entry_of(bench), Tombstone("ada", "down", bench.clock.now()))
        raise TransientError("ssh_failed", "The machine does not answer.")

    machine.instead["smoke"] = end
    smoke(bench, retries_for=timedelta(hours=1))
    (run,) = booked(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "stopped")
    assert launches(bench) == 1


def test_job_that_dies_while_the_command_runs_leaves_its_machine_to_whoever_comes_next(
    bench: Bench, machine: GoodMachine
) -> None:
    """Nobody was handed this machine, so it is nobody's when its run is gone; its lease would go on for an hour."""
    seen: list[object] = []

    def look(nonce: str) -> str:
        record = entry_of(bench).record
        bench.forge.dead_runs.add(record.run_id)
        seen.append(reason_to_end(bench.context, record))
        night = Scheduled(bench.forge.repo, Requester("schedule"), is_manual=False)
        seen.append(tie_up(bench.context, night, POLICY, DeadJob()))
        return smoke_answer(nonce)

    machine.instead["smoke"] = look
    smoke(bench)
    assert seen == ["run_died", DEFERRED]


@pytest.mark.parametrize("kind", ["access", "code", "setup", "probe", "smoke"])
def test_cancelled_run_ends_its_machine_before_it_goes(bench: Bench, machine: GoodMachine, kind: str) -> None:
    machine.instead[kind] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        smoke(bench)
    assert not bench.cloud.running
    assert booked(bench) == []


def test_a_fault_of_ours_is_no_failure_of_the_code(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = ZeroDivisionError("ours")
    run = said(bench)
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "internal_error")
    assert "ours" not in run.why
    assert bench.progress.failures


# --- again -----------------------------------------------------------------------------------------------------------


def test_what_found_no_machine_is_tried_again_within_the_window(bench: Bench) -> None:
    bench.cloud.answers = [NO_CAPACITY]
    outcome = smoke(bench, retries_for=timedelta(hours=1))
    assert outcome.reason_code == "smoke_passed"
    assert launches(bench) == 2
    assert bench.clock.now() - START >= RETRY_PAUSE
    assert len(booked(bench)) == 1, "one night is one run, however often it was tried"


def test_the_window_ends(bench: Bench) -> None:
    bench.cloud.answers = [NO_CAPACITY] * 50
    assert smoke(bench, retries_for=timedelta(minutes=25)).reason_code == "smoke_not_run"
    assert launches(bench) == 3
    assert bench.clock.now() - START <= timedelta(minutes=26)


def test_what_failed_is_not_tried_again(bench: Bench, machine: GoodMachine) -> None:
    machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=1, report=RED)
    smoke(bench, retries_for=timedelta(hours=1))
    assert launches(bench) == 1


def test_who_waits_at_a_door_is_told_at_once(bench: Bench) -> None:
    bench.cloud.answers = [NO_CAPACITY] * 5
    bench.settle(door=Door.TERMINAL)
    assert smoke(bench, retries_for=timedelta(hours=1)).reason_code == "smoke_not_run"
    assert launches(bench) == 1


# --- side by side ----------------------------------------------------------------------------------------------------


@pytest.fixture
def meeting(machine: GoodMachine) -> Callable[[str], str]:
    """An answer that waits for the other machine's test, so that it comes only where both run at once."""
    both = threading.Barrier(2, timeout=60)

    def answer(nonce: str) -> str:
        both.wait()
        return smoke_answer(nonce)

    machine.instead["smoke"] = answer
    return answer


@pytest.mark.usefixtures("meeting")
def test_two_cells_run_at_the_same_time(bench: Bench) -> None:
    spec(bench, TWO)
    outcome = smoke(bench)
    assert outcome.reason_code == "smoke_passed"
    assert [run.cell for run in booked(bench)] == ["one/image:1", "two/image:2"]
    assert records(bench) == [State.CLOSED, State.CLOSED]
    assert any(line.startswith("[one/image:1] ") for line in bench.progress.lines)


def test_cells_over_the_limit_wait_for_the_wave_before_them(bench: Bench, machine: GoodMachine) -> None:
    spec(bench, TWO)
    at_once: list[int] = []
    machine.before = lambda kind: at_once.append(len(bench.cloud.running)) if kind == "smoke" else None
    policy = replace(POLICY, environments_per_repository=1, smoke_retry_within=timedelta(0))
    order = replace(bench.order(policy=policy), command=Command("smoke", "schedule"), comment_id=None)
    assert handle_smoke(bench.context, order).reason_code == "smoke_passed"
    assert at_once == [1, 1]
    assert len(booked(bench)) == 2


def test_one_of_two_that_fails_is_a_failure_of_the_whole(bench: Bench, machine: GoodMachine) -> None:
    spec(bench, TWO)
    turns = iter((0, 1))
    lock = threading.Lock()

    def answer(nonce: str) -> str:
        with lock:
            return smoke_answer(nonce, exit_code=next(turns))

    machine.instead["smoke"] = answer
    assert smoke(bench).reason_code == "smoke_failed"
    assert sorted(run.result.value for run in booked(bench)) == ["failed", "passed"]


# --- other ways ------------------------------------------------------------------------------------------------------


def test_dry_run_rents_nothing_and_writes_nothing(bench: Bench) -> None:
    outcome = smoke(bench, is_dry_run=True)
    assert (outcome.decision, outcome.reason_code) == ("done", "dry_run")
    assert launches(bench) == 0
    assert booked(bench) == []
    assert "would be run" in outcome.text
    assert "RTX4090" in outcome.text


def test_a_pull_requests_run_is_answered_there_and_is_no_part_of_the_branchs_history(bench: Bench) -> None:
    bench.forge.pull = pull_request()
    order = bench.order("/gpu-lol smoke")
    assert handle_smoke(bench.context, order).reason_code == "smoke_passed"
    assert booked(bench) == []
    assert len(bench.texts) == 1
    assert "to=5" in bench.texts[0]


def test_history_that_cannot_be_written_fails_nothing(bench: Bench) -> None:
    bench.context = replace(bench.context, smoke_book=_Broken)  # type: ignore[arg-type]  # it only fails
    assert smoke(bench).reason_code == "smoke_passed"
    assert any("history" in note for note in bench.progress.notes)


class _Broken:
    def read(self, branch: str) -> object:
        raise TransientError("github_unreachable", "GitHub could not be asked")

    def change(self, branch: str, edit: object) -> object:
        raise TransientError("github_unreachable", "GitHub could not be asked")
