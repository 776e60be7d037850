"""What is left of a night: the check run, the files, and the one issue, over many nights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.report_files import FolderReports
from gpu_lol_action.adapters.smoke_book import StoredSmokeBook
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.domain.surfaces import Conclusion
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.handlers.smoke import handle_smoke
from tests.support.hands import HEAD, pull_request
from tests.support.issues import ScriptedIssues
from tests.support.machine import GoodMachine, smoke_answer
from tests.support.surfaces import Shown
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
meta: {name: story, workload_type: training}
smoke: {command: "python -m pytest tests", timeout_minutes: 5}
"""
NIGHTLY = replace(POLICY, smoke_retry_within=timedelta(0), requires_recent_sweep=False)
NO_CAPACITY = NotLaunched("no_capacity", "no machine now", is_certain=True)


def red(*names: str) -> bytes:
    case = '<testcase classname="tests.test_gpu" name="{0}" time="2"><failure message="assert {0}">tests/test_gpu.py:7: AssertionError</failure></testcase>'
    return f'<testsuites><testsuite name="pytest">{"".join(case.format(name) for name in names)}</testsuite></testsuites>'.encode()


class Nights:
    """A repository whose smoke test the clock starts, night after night."""

    def __init__(self, bench: Bench, machine: GoodMachine, folder: Path) -> None:
        (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
        self.bench, self.machine, self.shown = bench, machine, Shown()
        self.issues = ScriptedIssues(bench.clock.now)
        self.folder = folder / "reports"
        bench.shell = machine
        bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
        bench.context = replace(
            bench.context,
            smoke_book=lambda: StoredSmokeBook(FileStore(folder / "smoke")),
            issues=self.issues,
            reports=FolderReports(self.folder),
            surfaces=self.shown.surfaces(),
        )

    def run(self, result: str = "P", *names: str, sha: str = "", **changes: object) -> Outcome:
        """Play one night: P(assed), F(ailed) with these tests, or N(ot run)."""
        if sha:
            self.bench.forge.pull = replace(self.bench.forge.pull, head_sha=sha)
            self.machine.facts[0]["code"].update({"head": sha, "marker": sha})
        self.bench.cloud.answers = [NO_CAPACITY] * 9 if result == "N" else []
        report = red(*(names or ("test_a",))) if result == "F" else b""
        self.machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=int(result == "F"), report=report)
        command = replace(Command("smoke", "schedule"), **changes)  # type: ignore[arg-type]  # keyword bag
        order = self.bench.order(policy=NIGHTLY)
        outcome = handle_smoke(self.bench.context, replace(order, command=command, comment_id=None))
        self.bench.clock.sleep(timedelta(days=1) - timedelta(minutes=20))
        return outcome

    @property
    def open_issues(self) -> list[int]:
        return [number for number, issue in self.issues.issues.items() if issue.is_open]


@pytest.fixture
def nights(bench: Bench, tmp_path: Path) -> Iterator[Nights]:
    yield Nights(bench, GoodMachine(), tmp_path)
    assert not bench.cloud.running


def test_check_run_is_named_and_says_what_the_night_said(nights: Nights) -> None:
    for result in "PFN":
        nights.run(result)
    assert [report.name for report in nights.shown.reports] == ["gpu-lol smoke"] * 3
    assert [report.sha for report in nights.shown.reports] == [HEAD] * 3
    assert [report.conclusion for report in nights.shown.reports] == [
        Conclusion.SUCCESS,
        Conclusion.FAILURE,
        Conclusion.NEUTRAL,
    ]
    assert nights.shown.reports[1].title.startswith("GPU smoke test failed at")
    (annotation,) = nights.shown.reports[1].annotations
    assert (annotation.path, annotation.line) == ("tests/test_gpu.py", 7)
    assert annotation.title == "tests/test_gpu.py::test_a failed"


def test_annotations_stand_in_the_log_where_the_check_run_may_not(nights: Nights) -> None:
    assert nights.run("F").annotations == ()
    nights.shown.missing.add("checks")
    (annotation,) = nights.run("F").annotations
    assert annotation.line == 7
    assert any("checks: write" in note for note in nights.bench.progress.notes)


def test_log_and_report_lie_ready_for_an_artifact(nights: Nights) -> None:
    outcome = nights.run("F")
    assert outcome.details["report_path"] == str(nights.folder)
    assert {path.name for path in nights.folder.iterdir()} == {"runs.json", "smoke.log", "smoke.xml"}
    assert (nights.folder / "smoke.xml").read_bytes() == red("test_a")
    (run,) = json.loads((nights.folder / "runs.json").read_text())["runs"]
    assert run["tests"]["failed"] == 1
    nights.run("N")
    assert {path.name for path in nights.folder.iterdir()} == {"runs.json"}, "an earlier night's files are gone"


def test_secrets_in_a_report_stay_out_of_the_files(nights: Nights) -> None:
    token = "ghp_" + "a1B2" * 9
    nights.machine.instead["smoke"] = lambda nonce: smoke_answer(
        nonce, log=f"{token}\n", exit_code=1, report=red(token)
    )
    order = nights.bench.order(policy=NIGHTLY)
    outcome = handle_smoke(nights.bench.context, replace(order, command=Command("smoke", "schedule"), comment_id=None))
    said = [outcome.text, *(path.read_text() for path in nights.folder.iterdir())]
    said += [
        nights.issues.issues[21].body,
        nights.shown.reports[0].summary,
        nights.shown.reports[0].annotations[0].title,
    ]
    assert len(said) == 7
    assert not any(token in text for text in said)


def test_files_that_cannot_be_written_are_noted(nights: Nights) -> None:
    nights.folder.write_text("a file is in the way")
    assert nights.run("P").reason_code == "smoke_passed"
    assert any("as files" in note for note in nights.bench.progress.notes)


# --- the issue -------------------------------------------------------------------------------------------------------


def test_one_issue_from_the_first_failure_to_the_pass(nights: Nights) -> None:
    nights.run("P", sha="a" * 40)
    assert nights.issues.log == [], "a branch that passes costs no request"
    outcome = nights.run("F", sha="b" * 40)
    assert nights.issues.log == ["find", "open"]
    assert outcome.details["issue"] == "21"
    assert "issues/21" in outcome.text
    issue = nights.issues.issues[21]
    assert issue.title == "GPU smoke test fails on main"
    assert f"compare/{'a' * 40}...{'b' * 40}" in issue.body
    assert "tests/test_gpu.py::test_a" in issue.body
    nights.run("F", sha="c" * 40)
    nights.run("N", sha="d" * 40)
    assert nights.issues.comments == [], "the same failure is no news"
    nights.run("F", "test_a", "test_b", sha="d" * 40)
    assert len(nights.issues.comments) == 1
    assert "test_b" in nights.issues.comments[0][1]
    outcome = nights.run("P", sha="e" * 40)
    assert nights.issues.log[-3:] == ["read 21", "close 21", "comment 21"]
    assert f"compare/{'d' * 40}...{'e' * 40}" in nights.issues.comments[-1][1]
    assert "issue" not in outcome.details
    assert nights.issues.log.count("open") == 1
    nights.run("P")
    assert nights.issues.log[-1] == "read 21"


def test_failing_again_within_days_opens_the_same_one_and_later_another(nights: Nights) -> None:
    for result in "FPF":
        nights.run(result)
    assert nights.open_issues == [21]
    assert "Now it fails" in nights.issues.comments[-1][1]
    nights.run("P")
    nights.bench.clock.sleep(timedelta(days=20))
    nights.run("F")
    assert nights.open_issues == [22]
    nights.run("F")
    assert nights.open_issues == [22]


def test_flaky_is_named_so(nights: Nights) -> None:
    nights.run("F", sha="a" * 40)
    outcome = nights.run("P", sha="a" * 40)
    assert "flaky" in nights.issues.comments[-1][1]
    assert "tests/test_gpu.py::test_a" in nights.issues.comments[-1][1]
    assert "**Flaky**" in outcome.text
    assert nights.open_issues == []


def test_three_nights_without_a_machine_make_one_issue(nights: Nights) -> None:
    nights.run("P", sha="a" * 40)
    nights.run("N")
    nights.run("N")
    assert nights.issues.log == []
    nights.run("N")
    issue = nights.issues.issues[21]
    assert issue.title == "GPU smoke test cannot be run on main"
    assert "3 nights" in issue.body
    assert f"commit/{'a' * 40}" in issue.body
    assert "no capacity" in issue.body
    assert "smoke.retry\\_within" in issue.body or "`smoke.retry_within`" in issue.body
    nights.run("N")
    assert nights.open_issues == [21]
    assert "4 nights" in nights.issues.issues[21].body
    nights.run("P", sha="a" * 40)
    assert nights.open_issues == []


def test_a_run_that_died_before_it_wrote_the_number_down_is_found_by_the_marker(nights: Nights) -> None:
    nights.run("F")
    assert nights.bench.context.smoke_book is not None
    nights.bench.context.smoke_book().change("main", lambda old: replace(old, issue_number=None))
    nights.run("F")
    assert nights.issues.log.count("open") == 1
    assert nights.bench.context.smoke_book().read("main").issue_number == 21


def test_an_issue_that_is_gone_is_opened_anew(nights: Nights) -> None:
    nights.run("F")
    nights.issues.issues.clear()
    nights.run("F")
    assert nights.issues.log[-3:] == ["read 21", "find", "open"]


def test_not_planned_keeps_it_closed_until_it_has_passed(nights: Nights) -> None:
    nights.run("F")
    nights.issues.issues[21] = replace(
        nights.issues.issues[21], is_open=False, is_unwanted=True, closed_at=nights.bench.clock.now()
    )
    nights.run("F", "test_b")
    assert nights.open_issues == []
    nights.run("P")
    nights.run("F")
    assert nights.open_issues == [21]


@pytest.mark.parametrize("code", ["github_permission_missing", "github_refused"])
def test_issues_that_may_not_be_written_are_noted_and_fail_nothing(nights: Nights, code: str) -> None:
    nights.issues.error = OperatorError(code, "issues are switched off")
    assert nights.run("F").reason_code == "smoke_failed"
    assert any("the issue about the smoke test" in note for note in nights.bench.progress.notes)


def test_a_pull_requests_failure_opens_none(nights: Nights) -> None:
    nights.bench.forge.pull = pull_request()
    order = nights.bench.order("/gpu-lol smoke")
    nights.machine.instead["smoke"] = lambda nonce: smoke_answer(nonce, exit_code=1, report=red("test_a"))
    assert handle_smoke(nights.bench.context, order).reason_code == "smoke_failed"
    assert nights.issues.log == []
    assert nights.shown.reports[0].sha == HEAD


def test_a_trial_and_another_branch_open_none(nights: Nights) -> None:
    nights.run("F", is_dry_run=True)
    nights.bench.forge.pull = replace(nights.bench.forge.pull, head_ref="next")
    nights.run("F")
    assert nights.issues.log == []
    assert nights.shown.reports[0].conclusion is Conclusion.FAILURE
