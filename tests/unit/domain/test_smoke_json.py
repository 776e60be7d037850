"""Histories as text: what is written comes back, much of it is cut, and nothing else is taken for one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.domain.smoke import (
    KEPT_RUNS,
    KEPT_RUNS_OF_CELL,
    SmokeHistory,
    SmokeIntent,
    SmokeMachine,
    SmokeResult,
    SmokeRun,
    TestCase,
    TestReport,
    TestStatus,
)
from gpu_lol_action.domain.smoke_json import UnreadableHistory, history_from_json, history_to_json

AT = datetime(2026, 11, 20, 3, 41, tzinfo=timezone.utc)
CASE = TestCase("t.py::a", TestStatus.FAILED, 1.5, "assert 3 == 4")
RUN = SmokeRun(
    "L4",
    "a" * 40,
    AT,
    SmokeResult.FAILED,
    "tests_failed",
    why="exit status 1",
    exit_code=1,
    took=timedelta(seconds=62),
    tests=TestReport(3, 1, 0, 60.5, (CASE,), (CASE,)),
    machine=SmokeMachine("runpod", "L4", 1, "570.1", "12.4", "2.4.0", Decimal("0.43")),
    cost_usd=Decimal("0.09"),
    peak_memory_gib=(19.8,),
    offers=("L4 on runpod: launched",),
    run_url="https://github.com/acme/train/actions/runs/7",
    report_note="it is no XML",
)


def test_history_comes_back_as_it_was() -> None:
    history = SmokeHistory((RUN, replace(RUN, tests=None, cost_usd=None, exit_code=None)), 12)
    assert history_from_json(history_to_json(history)) == history


BEGUN = SmokeIntent("7", "2", "b" * 40, AT, AT + timedelta(hours=2), ("L4", "A100:2"), RUN.run_url)


def test_runs_that_were_begun_come_back_too() -> None:
    history = SmokeHistory((RUN,), None, (BEGUN, replace(BEGUN, run_id="8", run_url="")))
    assert history_from_json(history_to_json(history)) == history


def test_history_of_an_earlier_version_is_read_and_goes_on() -> None:
    document = json.loads(history_to_json(SmokeHistory((RUN,), 12)))
    del document["begun"]
    old = history_from_json(json.dumps(document))
    assert old == SmokeHistory((RUN,), 12)
    assert history_from_json(history_to_json(replace(old, begun=(BEGUN,)))).begun == (BEGUN,)


def test_each_cell_keeps_its_newest_runs_and_its_last_pass() -> None:
    first = replace(RUN, result=SmokeResult.PASSED, at=AT - timedelta(days=99))
    runs = [first, *(replace(RUN, at=AT + timedelta(days=n)) for n in range(100))]
    kept = history_from_json(history_to_json(SmokeHistory(tuple(runs)))).runs
    assert kept == (first, *runs[-KEPT_RUNS_OF_CELL:])


def test_a_wide_matrix_does_not_grow_without_end() -> None:
    runs = [replace(RUN, cell=f"c{n % 50}", at=AT + timedelta(hours=n)) for n in range(4000)]
    text = history_to_json(SmokeHistory(tuple(runs)))
    kept = history_from_json(text).runs
    assert kept == tuple(runs[-KEPT_RUNS:])
    assert len(text) < 600_000


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"issue": "7"},
        {"issue": True},
        {"runs": [1]},
        {"runs": None},
        {"begun": None},
        {"begun": [1]},
        {"begun": [{"run": "7"}]},
        {"begun": [{"run": 7, "attempt": "1", "sha": "", "at": "", "ends_by": "", "cells": [], "url": ""}]},
        {"begun": [{"run": "7", "attempt": "1", "sha": "", "at": "2026-11-20", "ends_by": "", "cells": [], "url": ""}]},
    ],
)
def test_anything_else_is_no_history(change: dict[str, object]) -> None:
    document = {**json.loads(history_to_json(SmokeHistory((RUN,), 7))), **change}
    with pytest.raises(UnreadableHistory):
        history_from_json(json.dumps(document))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "x" * 99, '{"format":1,"issue":null,"runs":[{}]}'])
def test_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UnreadableHistory):
        history_from_json(text)
