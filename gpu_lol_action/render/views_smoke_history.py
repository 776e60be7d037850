"""View model of a branch's past smoke tests: a row and a bar for each run, or a strip of marks for each machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun
from gpu_lol_action.domain.smoke_issue import CellState, flaky_tests, stand
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import short_sha

MARKS = {SmokeResult.PASSED: Safe("🟢"), SmokeResult.FAILED: Safe("🔴"), SmokeResult.NOT_RUN: Safe("⚪")}
MOST_ROWS = 10
MOST_MARKS = 14
MOST_MACHINES = 20
MOST_FLAKY = 5
BAR_CELLS = 12


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run: the bar is its time as a share of the longest that is shown."""

    when: Safe
    sha: Safe
    mark: Safe
    said: str
    took: Safe
    bar: Safe


@dataclass(frozen=True, slots=True)
class PastCell:
    """One machine of the matrix: its marks, oldest first, and how many of its verdicts are good ones."""

    name: str
    marks: Safe
    passed: Safe


@dataclass(frozen=True, slots=True)
class Flake:
    """That a test, or a whole run, failed and then passed on the same commit; ``tests`` are those that did."""

    cell: str
    sha: Safe
    failed_at: Safe
    passed_at: Safe
    tests: Sequence[str]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """Runs of one machine in ``rows``, of several in ``cells``."""

    ref: str
    rows: Sequence[PastRun]
    cells: Sequence[PastCell]
    flakes: Sequence[Flake]


def history_view(history: SmokeHistory, cells: Sequence[str], ref: str) -> HistoryView | None:
    """Return the past of these machines; None where there is none but the newest run."""
    shown = list(dict.fromkeys(cells))[:MOST_MACHINES]
    past = {cell: history.of_cell(cell) for cell in shown}
    if all(len(runs) < 2 for runs in past.values()):
        return None
    states = stand(history, shown).cells
    return HistoryView(
        ref=ref,
        rows=_rows(past[shown[0]]) if len(shown) == 1 else (),
        cells=[_cell(cell, runs) for cell, runs in past.items() if runs] if len(shown) > 1 else (),
        flakes=[_flake(state, past[state.cell]) for state in states if state.is_flaky],
    )


def what_it_said(run: SmokeRun) -> str:
    """Return a run's result in a few words."""
    tests = run.tests
    if run.result is SmokeResult.PASSED:
        return f"{tests.passed} passed" if tests is not None and tests.passed else "passed"
    if run.result is SmokeResult.FAILED and tests is not None and tests.failed:
        return f"{tests.failed} of {tests.total} failed"
    return run.reason_code.replace("_", " ")


def _rows(runs: Sequence[SmokeRun]) -> list[PastRun]:
    shown = runs[-MOST_ROWS:]
    longest = max([*(run.took for run in shown), timedelta(seconds=1)])
    return [
        PastRun(
            when=formats.night(run.at),
            sha=short_sha(run.sha),
            mark=MARKS[run.result],
            said=what_it_said(run),
            took=formats.duration(run.took) if run.exit_code is not None else Safe("–"),
            bar=Safe(formats.bar(run.took / longest, BAR_CELLS)),
        )
        for run in shown
    ]


def _cell(name: str, runs: Sequence[SmokeRun]) -> PastCell:
    verdicts = [run for run in runs if run.result is not SmokeResult.NOT_RUN]
    passed = sum(run.result is SmokeResult.PASSED for run in verdicts)
    marks = Safe(" ".join(MARKS[run.result] for run in runs[-MOST_MARKS:]))
    return PastCell(name, marks, Safe(f"{passed} of {len(verdicts)}") if verdicts else Safe("–"))


def _flake(state: CellState, runs: Sequence[SmokeRun]) -> Flake:
    failed, passed = state.last_failure, state.last_pass
    if failed is None or passed is None:
        raise LookupError("what is flaky has failed and has passed")
    names = sorted(flaky_tests(runs))[:MOST_FLAKY]
    return Flake(state.cell, short_sha(passed.sha), formats.night(failed.at), formats.night(passed.at), names)
