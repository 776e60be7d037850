"""What becomes of the one issue, night by night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun, TestCase, TestReport, TestStatus
from gpu_lol_action.domain.smoke_issue import (
    REOPEN_WITHIN,
    Action,
    IssueStep,
    StandingIssue,
    Trouble,
    decide,
    flaky_tests,
    stand,
)

NIGHT = datetime(2026, 11, 1, 3, 41, tzinfo=timezone.utc)
OPEN = StandingIssue(7, is_open=True, body="")


def run(night: int, result: str, *names: str, sha: str = "", cell: str = "smoke", reason: str = "") -> SmokeRun:
    """A run of a night: P(assed), F(ailed), N(ot run)."""
    kind = {"P": SmokeResult.PASSED, "F": SmokeResult.FAILED, "N": SmokeResult.NOT_RUN}[result]
    failures = tuple(TestCase(name, TestStatus.FAILED, 1.0) for name in names)
    tests = TestReport(1, len(failures), 0, 1.0, failures) if names else None
    code = reason or {"P": "passed", "F": "tests_failed", "N": "no_capacity"}[result]
    return SmokeRun(cell, sha or f"{night:040d}", NIGHT + timedelta(days=night), kind, code, tests=tests)


def nights(results: str) -> list[SmokeRun]:
    return [run(night, result, *(["t.py::a"] if result == "F" else [])) for night, result in enumerate(results)]


def step(
    runs: Sequence[SmokeRun], issue: StandingIssue | None = None, *, of_last: int = 1, now: datetime | None = None
) -> IssueStep:
    cells = [each.cell for each in runs[-of_last:]]
    before = stand(SmokeHistory(tuple(runs[:-of_last])), cells)
    return decide(stand(SmokeHistory(tuple(runs)), cells), before, issue, now or runs[-1].at + timedelta(minutes=9))


@pytest.mark.parametrize(
    ("results", "issue", "action", "is_told"),
    [
        ("P", None, Action.NOTHING, False),
        ("PF", None, Action.OPEN, False),
        ("F", None, Action.OPEN, False),
        ("PFF", OPEN, Action.EDIT, False),
        ("PFN", OPEN, Action.EDIT, False),
        ("PFP", OPEN, Action.CLOSE, True),
        ("PFNP", OPEN, Action.CLOSE, True),
        ("PFP", None, Action.NOTHING, False),
        ("N", None, Action.NOTHING, False),
        ("PNN", None, Action.NOTHING, False),
        ("PNNN", None, Action.OPEN, False),
        ("PNNNN", OPEN, Action.EDIT, False),
        ("PNNNF", OPEN, Action.EDIT, True),
        ("PNNNP", OPEN, Action.CLOSE, True),
        ("PFPN", OPEN, Action.NOTHING, False),
    ],
)
def test_nights(results: str, issue: StandingIssue | None, action: Action, is_told: bool) -> None:
    assert step(nights(results), issue) == IssueStep(action, is_told)


def test_other_failed_tests_are_news_and_the_same_ones_are_not() -> None:
    same = [run(0, "F", "t.py::a", "t.py::b"), run(1, "F", "t.py::b", "t.py::a")]
    assert step(same, OPEN) == IssueStep(Action.EDIT)
    assert step([same[0], run(1, "F", "t.py::a")], OPEN) == IssueStep(Action.EDIT, is_told=True)
    assert step([run(0, "F"), run(1, "F", reason="time_box_over")], OPEN) == IssueStep(Action.EDIT, is_told=True)


def closed(on_night: int, **changes: object) -> StandingIssue:
    at = NIGHT + timedelta(days=on_night, minutes=30)
    return replace(StandingIssue(7, is_open=False, body="", closed_at=at), **changes)  # type: ignore[arg-type]  # keyword bag


def test_failing_again_soon_is_the_same_issue_and_later_another() -> None:
    assert step(nights("FPF"), closed(1)) == IssueStep(Action.REOPEN, is_told=True)
    late = nights("FPF")[-1].at + REOPEN_WITHIN
    assert step(nights("FPF"), closed(1), now=late) == IssueStep(Action.OPEN)


def test_a_person_who_closed_it_as_not_planned_is_left_alone_until_it_has_passed() -> None:
    assert step(nights("FFFF"), closed(1, is_unwanted=True)) == IssueStep(Action.NOTHING)
    assert step(nights("FFPF"), closed(1, is_unwanted=True)).action is Action.REOPEN
    assert step(nights("FF"), closed(0)).action is Action.REOPEN, "closed as done, and it is not"
    assert step(nights("NNNN"), closed(2, is_unwanted=True)) == IssueStep(Action.NOTHING)


def test_nights_are_days_not_tries() -> None:
    one_day = [replace(run(0, "N"), at=NIGHT + timedelta(minutes=30 * n)) for n in range(8)]
    assert step(one_day).action is Action.NOTHING


@pytest.mark.parametrize("reason", ["already_running", "stopped"])
def test_what_somebody_willed_is_no_trouble_and_says_nothing(reason: str) -> None:
    willed = [run(night, "N", reason=reason) for night in range(5)]
    assert step(willed).action is Action.NOTHING
    assert step([run(0, "F"), *willed], OPEN).action is Action.EDIT, "it fails as before"
    assert step([run(0, "P"), *willed], OPEN).action is Action.CLOSE, "it passed, and nothing was learned since"


def test_a_matrix_is_well_where_each_of_its_cells_is() -> None:
    first = [run(0, "P", cell="L4"), run(0, "F", "t.py::a", cell="H100")]
    assert step(first, of_last=2) == IssueStep(Action.OPEN)
    assert step([*first, run(1, "P", cell="L4"), run(1, "N", cell="H100")], OPEN, of_last=2) == IssueStep(Action.EDIT)
    assert step([*first, run(1, "N", cell="L4"), run(1, "P", cell="H100")], OPEN, of_last=2).action is Action.CLOSE
    assert step([*first, run(1, "P", cell="L4")], OPEN).action is Action.CLOSE, "a card that is no longer tested"


def test_failed_then_passed_on_the_same_commit_is_flaky() -> None:
    runs = [run(0, "F", "t.py::a", sha="a" * 40), run(1, "P", sha="a" * 40)]
    (cell,) = stand(SmokeHistory(tuple(runs)), ["smoke"]).cells
    assert cell.is_flaky
    assert flaky_tests(runs) == {"t.py::a"}
    mended = [runs[0], run(1, "P", sha="b" * 40)]
    assert not stand(SmokeHistory(tuple(mended)), ["smoke"]).cells[0].is_flaky
    assert flaky_tests(mended) == frozenset()
    assert not stand(SmokeHistory(tuple(runs[::-1])), ["smoke"]).cells[0].is_flaky, "passed, then failed"


def test_state_of_a_cell_names_the_range() -> None:
    (cell,) = stand(SmokeHistory(tuple(nights("PFFN"))), ["smoke"]).cells
    assert cell.last_pass is not None
    assert cell.failing_since is not None
    assert cell.last_failure is not None
    assert (cell.last_pass.at, cell.failing_since.at, cell.last_failure.at) == tuple(
        NIGHT + timedelta(days=n) for n in (0, 1, 2)
    )
    assert cell.nights_not_run == 1
    assert stand(SmokeHistory(tuple(nights("PFFN"))), ["smoke"]).trouble is Trouble.FAILING
