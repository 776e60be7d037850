"""Runs that were begun: entered, told, or given up, in any order, and none of it twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_lol_action.domain.smoke import SmokeHistory, SmokeIntent, SmokeResult, SmokeRun
from gpu_lol_action.domain.smoke_intent import (
    LOST,
    OVERDUE,
    begin,
    conclude,
    give_up,
    is_earlier_attempt,
    is_overdue,
    lost_runs,
)
from gpu_lol_action.domain.smoke_issue import NIGHTS_NOT_RUN, Trouble, stand
from gpu_lol_action.domain.smoke_json import history_from_json, history_to_json

AT = datetime(2026, 11, 20, 3, 41, tzinfo=timezone.utc)
INTENT = SmokeIntent("101", "1", "a" * 40, AT, AT + timedelta(hours=2), ("L4", "A100"))
PASS = SmokeRun("L4", "a" * 40, AT, SmokeResult.PASSED, "passed")


def night(days: int) -> SmokeIntent:
    shift = timedelta(days=days)
    return replace(INTENT, run_id=str(101 + days), at=AT + shift, ends_by=INTENT.ends_by + shift)


def test_results_take_the_place_of_what_was_begun() -> None:
    other = night(1)
    history = begin(begin(SmokeHistory(), INTENT), other)
    told = conclude(history, INTENT, [PASS])
    assert told.begun == (other,)
    assert told.runs == (PASS,)


def test_given_up_counts_as_not_run_on_each_machine_and_never_as_a_failure() -> None:
    given_up = give_up(begin(SmokeHistory(), INTENT), [INTENT])
    assert given_up.begun == ()
    assert [(run.cell, run.result, run.reason_code, run.at) for run in given_up.runs] == [
        ("L4", SmokeResult.NOT_RUN, LOST, AT),
        ("A100", SmokeResult.NOT_RUN, LOST, AT),
    ]
    assert "Workflow run 101 ended without a result" in given_up.runs[0].why
    assert given_up.runs[0].exit_code is None
    assert stand(given_up, ["L4"]).trouble is Trouble.UNKNOWN


def test_some_lost_nights_are_as_good_a_reason_for_an_issue_as_nights_without_a_machine() -> None:
    nights = [night(days) for days in range(NIGHTS_NOT_RUN)]
    history = SmokeHistory((replace(PASS, at=AT - timedelta(days=1)),), begun=tuple(nights))
    assert stand(give_up(history, nights[:-1]), ["L4"]).trouble is Trouble.UNKNOWN
    standing = stand(give_up(history, nights), ["L4"])
    assert standing.trouble is Trouble.STUCK
    assert standing.cells[0].nights_not_run == NIGHTS_NOT_RUN


def test_given_up_late_it_stands_where_it_was_and_takes_nothing_from_a_later_pass() -> None:
    later = replace(PASS, at=AT + timedelta(days=1))
    history = give_up(SmokeHistory((later,), begun=(INTENT,)), [INTENT])
    assert [run.at for run in history.of_cell("L4")] == [AT, later.at]
    assert stand(history, ["L4"]).trouble is Trouble.NONE


def test_what_was_given_up_and_tells_its_end_all_the_same_is_believed() -> None:
    given_up = give_up(begin(SmokeHistory(), INTENT), [INTENT])
    kept = history_from_json(history_to_json(given_up))
    assert conclude(kept, INTENT, [PASS]).runs == (PASS,)


def test_what_has_told_its_end_meanwhile_is_not_given_up() -> None:
    told = conclude(begin(SmokeHistory(), INTENT), INTENT, [PASS])
    assert give_up(told, [INTENT]) == told


def test_two_runs_that_look_alike_are_two() -> None:
    history = begin(begin(SmokeHistory(), INTENT), INTENT)
    assert conclude(history, INTENT, []).begun == (INTENT,)
    assert len(give_up(history, [INTENT]).runs) == 2
    assert len(give_up(history, [INTENT, INTENT]).runs) == 4


def test_it_is_overdue_long_after_its_time_box_and_no_sooner() -> None:
    assert not is_overdue(INTENT, INTENT.ends_by + OVERDUE)
    assert is_overdue(INTENT, INTENT.ends_by + OVERDUE + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("run_id", "attempt", "is_earlier"),
    [("101", "2", True), ("101", "1", False), ("102", "2", False), ("101", "", False), ("101", "x", False)],
)
def test_an_attempt_that_was_started_again_is_over(run_id: str, attempt: str, is_earlier: bool) -> None:
    assert is_earlier_attempt(INTENT, run_id, attempt) is is_earlier


def test_a_terminals_run_has_no_name() -> None:
    assert lost_runs(replace(INTENT, run_id="local:12:34"))[0].why.startswith("The run ended")
    assert "(attempt 3)" in lost_runs(replace(INTENT, attempt="3"))[0].why
