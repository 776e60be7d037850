"""Nights whose runner was lost: entered before anything is spent, and closed by whoever comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.smoke_book import StoredSmokeBook
from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Command, Outcome, Scheduled
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult
from gpu_lol_action.domain.smoke_intent import LOST, OVERDUE
from gpu_lol_action.errors import Door, OperatorError, TransientError
from gpu_lol_action.handlers.finish import DeadJob, tie_up
from gpu_lol_action.handlers.smoke import handle_smoke
from gpu_lol_action.handlers.smoke_book import close_lost
from gpu_lol_action.handlers.smoke_cell import verdict_of
from gpu_lol_action.handlers.sweep import handle_sweep
from tests.support.hands import HEAD, pull_request
from tests.support.issues import ScriptedIssues
from tests.support.machine import GoodMachine, smoke_answer
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
meta: {name: story, workload_type: training}
smoke: {command: "python -m pytest tests", timeout_minutes: 5}
"""
NIGHTLY = replace(POLICY, smoke_retry_within=timedelta(0), requires_recent_sweep=False)


class RunnerLost(BaseException):
    """The process is gone: nothing of ours runs any more, not even what ends a machine."""


class Runners:
    """A repository whose smoke test runs on one runner after the other, some of which are lost."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
        self.bench, self.machine, self.issues = bench, GoodMachine(), ScriptedIssues(bench.clock.now)
        bench.shell = self.machine
        bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
        bench.context = replace(
            bench.context, smoke_book=lambda: StoredSmokeBook(FileStore(folder / "smoke")), issues=self.issues
        )

    @property
    def history(self) -> SmokeHistory:
        assert self.bench.context.smoke_book is not None
        return self.bench.context.smoke_book().read("main")

    @property
    def results(self) -> list[tuple[SmokeResult, str]]:
        return [(run.result, run.reason_code) for run in self.history.runs]

    def run(self, run_id: str, **settings: object) -> Outcome:
        """Play a whole night on a runner of its own."""
        self.bench.settle(run_id=run_id, **settings)
        order = replace(self.bench.order(policy=NIGHTLY), command=Command("smoke", "schedule"), comment_id=None)
        return handle_smoke(self.bench.context, order)

    def lose(self, run_id: str, **settings: object) -> None:
        """Lose the runner while the test runs: the process does nothing more, and GitHub knows that the run is over."""

        def gone(_nonce: str) -> str:
            self.bench.cloud.cancel_raises = RunnerLost()
            raise RunnerLost

        self.machine.instead["smoke"] = gone
        with pytest.raises(RunnerLost):
            self.run(run_id, **settings)
        self.machine.instead.pop("smoke")
        self.bench.cloud.cancel_raises = None
        self.bench.forge.dead_runs.add(run_id)

    def sweep(self) -> Outcome:
        self.bench.settle(run_id="900")
        return handle_sweep(self.bench.context, 5, NIGHTLY)

    def tomorrow(self) -> None:
        self.bench.clock.sleep(timedelta(days=1))


@pytest.fixture
def runners(bench: Bench, tmp_path: Path) -> Iterator[Runners]:
    made = Runners(bench, tmp_path)
    yield made
    bench.assert_nothing_bills_unnoticed()


def test_run_is_entered_before_anything_is_spent_and_taken_off_at_its_end(runners: Runners) -> None:
    seen: list[SmokeHistory] = []
    runners.bench.cloud.answers = [lambda: seen.append(runners.history)]
    runners.run("101", run_url="https://github.com/acme/train/actions/runs/101")
    ((intent,),) = [history.begun for history in seen]
    assert (intent.run_id, intent.attempt, intent.sha, intent.cells) == ("101", "1", HEAD, ("smoke",))
    assert intent.run_url.endswith("/101")
    assert intent.ends_by > intent.at
    assert seen[0].runs == ()
    assert runners.history.begun == ()
    assert runners.results == [(SmokeResult.PASSED, "passed")]


def test_lost_night_is_closed_by_the_next_one(runners: Runners) -> None:
    runners.lose("101")
    assert runners.results == []
    assert [intent.run_id for intent in runners.history.begun] == ["101"]
    runners.tomorrow()
    runners.sweep()
    runners.run("102")
    assert runners.results == [(SmokeResult.NOT_RUN, LOST), (SmokeResult.PASSED, "passed")]
    assert runners.history.begun == ()


def test_the_next_night_itself_closes_it_where_nobody_swept(runners: Runners) -> None:
    runners.lose("101")
    runners.tomorrow()
    # Its machine still has a record: this night is not run either, and says so.
    runners.run("102")
    assert runners.results == [(SmokeResult.NOT_RUN, LOST), (SmokeResult.NOT_RUN, "already_running")]


def test_sweeper_closes_it_within_the_hour(runners: Runners) -> None:
    runners.lose("101")
    outcome = runners.sweep()
    assert outcome.reason_code == "swept"
    assert runners.results == [(SmokeResult.NOT_RUN, LOST)]
    assert f"smoke test at {HEAD[:7]}" in outcome.text
    assert "its runner was lost" in outcome.text
    again = runners.sweep()
    assert "smoke test" not in again.text
    assert len(runners.history.runs) == 1


def test_dry_sweep_closes_nothing(runners: Runners) -> None:
    runners.lose("101")
    handle_sweep(runners.bench.context, 5, NIGHTLY, is_dry_run=True)
    assert len(runners.history.begun) == 1
    runners.sweep()


def test_finishing_job_closes_what_its_own_run_had_begun(runners: Runners) -> None:
    runners.lose("101")
    runners.bench.forge.dead_runs.clear()  # the finishing job is of the same run, which goes on
    night = Scheduled(runners.bench.forge.repo, Requester("schedule"), is_manual=False)
    tie_up(runners.bench.context, night, NIGHTLY, DeadJob())
    assert runners.results == [(SmokeResult.NOT_RUN, LOST)]


def test_finishing_job_of_another_run_leaves_it_alone(runners: Runners) -> None:
    runners.lose("101")
    runners.bench.forge.dead_runs.clear()
    runners.bench.settle(run_id="102")
    night = Scheduled(runners.bench.forge.repo, Requester("schedule"), is_manual=False)
    tie_up(runners.bench.context, night, NIGHTLY, DeadJob())
    assert runners.results == []
    runners.bench.forge.dead_runs.add("101")


# --- two at once -----------------------------------------------------------------------------------------------------


def test_run_that_is_still_at_it_is_closed_neither_by_another_nor_by_a_sweep(runners: Runners) -> None:
    """Two runs at once: whatever comes by while a test runs finds it begun, and lets it be."""
    seen: list[SmokeHistory] = []

    def meanwhile(nonce: str) -> str:
        runners.machine.instead.pop("smoke")
        runners.run("102")
        runners.sweep()
        runners.bench.settle(run_id="101")
        seen.append(runners.history)
        return smoke_answer(nonce)

    runners.machine.instead["smoke"] = meanwhile
    runners.run("101")
    (during,) = seen
    assert [intent.run_id for intent in during.begun] == ["101"]
    assert [run.reason_code for run in during.runs] == ["already_running"]
    assert runners.results == [(SmokeResult.NOT_RUN, "already_running"), (SmokeResult.PASSED, "passed")]
    assert runners.history.begun == ()


def test_run_that_github_cannot_tell_of_is_closed_long_after_its_time_box_and_believed_if_it_speaks(
    runners: Runners,
) -> None:
    def meanwhile(nonce: str) -> str:
        (intent,) = runners.history.begun
        sleep = intent.ends_by + OVERDUE - runners.bench.clock.now()
        clock, before = runners.bench.clock, runners.bench.clock.at
        runners.bench.settle(run_id="900")
        clock.sleep(sleep)
        assert not close_lost(runners.bench.context, runners.bench.forge.repo), "its time is not over yet"
        clock.sleep(timedelta(seconds=1))
        assert close_lost(runners.bench.context, runners.bench.forge.repo) == (intent,)
        assert runners.results == [(SmokeResult.NOT_RUN, LOST)]
        runners.bench.settle(run_id="101")
        clock.at = before
        return smoke_answer(nonce)

    runners.machine.instead["smoke"] = meanwhile
    runners.run("101")
    assert runners.results == [(SmokeResult.PASSED, "passed")]


def test_run_that_was_started_again_closes_its_own_first_attempt(runners: Runners) -> None:
    runners.lose("101")
    runners.bench.forge.dead_runs.clear()
    runners.tomorrow()
    runners.run("101", run_attempt="2")
    assert runners.results[0] == (SmokeResult.NOT_RUN, LOST)
    assert runners.history.begun == ()


# --- the issue -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["sweep", "finish", "next"])
def test_three_lost_nights_make_one_issue(runners: Runners, by: str) -> None:
    runners.run("100")
    for night in ("101", "102", "103"):
        assert runners.issues.log == []
        runners.tomorrow()
        runners.lose(night)
        if by == "finish":
            tie_up(
                runners.bench.context,
                Scheduled(runners.bench.forge.repo, Requester("schedule"), is_manual=False),
                NIGHTLY,
                DeadJob(),
            )
        if by != "next":
            runners.sweep()
        else:
            end_machines(runners)
    if by == "next":
        runners.tomorrow()
        runners.lose("104")
    assert runners.issues.log == ["find", "open"]
    issue = runners.issues.issues[21]
    assert issue.title == "GPU smoke test cannot be run on main"
    assert "It could not be run for 3 nights" in issue.body
    assert "Workflow run 103 ended without a result" in issue.body
    assert issue.body.count("runner lost") == 3
    if by == "next":
        end_machines(runners)
    runners.sweep()
    runners.run("105")
    assert not runners.issues.issues[21].is_open
    assert not any(run.result is SmokeResult.FAILED for run in runners.history.runs)


def end_machines(runners: Runners) -> None:
    """End what is left as the sweeper does, in a repository whose book it cannot read."""
    book = runners.bench.context.smoke_book
    runners.bench.context = replace(runners.bench.context, smoke_book=None)
    runners.sweep()
    runners.bench.context = replace(runners.bench.context, smoke_book=book)


def test_issue_says_what_may_still_run_of_a_lost_night(runners: Runners) -> None:
    for night in ("101", "102"):
        runners.lose(night)
        runners.sweep()
        runners.tomorrow()
    runners.lose("103")
    night = Scheduled(runners.bench.forge.repo, Requester("schedule"), is_manual=False)
    tie_up(runners.bench.context, night, NIGHTLY, DeadJob())
    assert runners.bench.cloud.running
    assert "**Nothing is running.**" not in runners.issues.issues[21].body
    runners.sweep()


# --- other ends ------------------------------------------------------------------------------------------------------


def test_error_before_a_result_is_booked_as_not_run_with_its_remedy(runners: Runners) -> None:
    runners.bench.settle(clouds=())
    with pytest.raises(OperatorError):
        runners.run("101")
    (run,) = runners.history.runs
    assert (run.result, run.reason_code) == (SmokeResult.NOT_RUN, "cloud_secret_missing")
    assert "RUNPOD_API_KEY" in run.remedy
    assert runners.history.begun == ()


@pytest.mark.parametrize(("door", "told"), [(Door.TERMINAL, ["stopped"]), (Door.JOB, [])])
def test_run_that_somebody_interrupts_is_their_will_at_a_terminal(
    runners: Runners, door: Door, told: list[str]
) -> None:
    """A job is interrupted by GitHub as well, where it is over its time."""
    runners.bench.settle(door=door)
    runners.machine.instead["smoke"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        runners.run("101")
    assert [code for _, code in runners.results] == told
    assert len(runners.history.begun) == (0 if told else 1)
    assert not runners.bench.cloud.running


def test_code_that_fails_by_an_error_is_a_failure_all_the_same(runners: Runners) -> None:
    """An error says of itself whose fault it is, whether it ends one machine's test or the whole run."""
    assert verdict_of(TransientError("setup_failed", "set-up failed")).result is SmokeResult.FAILED
    assert verdict_of(ZeroDivisionError()).reason_code == "internal_error"


def test_pull_request_and_trial_are_not_entered(runners: Runners) -> None:
    runners.bench.context = replace(runners.bench.context, issues=None)
    runners.bench.forge.pull = pull_request()
    assert handle_smoke(runners.bench.context, runners.bench.order("/gpu-lol smoke")).reason_code == "smoke_passed"
    runners.bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
    order = runners.bench.order("/gpu-lol smoke", is_dry_run=True)
    assert handle_smoke(runners.bench.context, replace(order, comment_id=None)).reason_code == "dry_run"
    assert runners.history == SmokeHistory()


def test_records_of_lost_nights_are_ended_by_the_sweep(runners: Runners) -> None:
    runners.lose("101")
    assert runners.bench.cloud.running
    runners.sweep()
    assert not runners.bench.cloud.running
    assert all(not entry.record.is_open for entry in runners.bench.ledger.entries() if isinstance(entry, Entry))
