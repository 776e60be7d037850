"""Decide what becomes of the one issue about a branch's smoke test: from its history and the issue as it stands."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta

from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun

NIGHTS_NOT_RUN = 3
"""Days without any result before an issue says so: capacity comes and goes within one or two."""
REOPEN_WITHIN = timedelta(days=14)
"""What fails again within so many days is the same story; later it is another one."""
# Somebody's will, not a fault: nobody needs an issue about it.
_WILLED = frozenset({"already_running", "stopped", "dry_run"})


@record(frozen=True, slots=True)
class StandingIssue:
    """An issue of ours as it is now. ``is_unwanted``: a person closed it as not planned."""

    number: int
    is_open: bool
    body: str
    closed_at: datetime | None = None
    is_unwanted: bool = False
    title: str = ""
    url: str = ""


@record(frozen=True, slots=True)
class IssueDraft:
    """What an issue is to be: its title, its text, and whether it stands open."""

    title: str
    body: str
    is_open: bool = True


@record(frozen=True, slots=True)
class CellState:
    """Where one cell stands.

    ``verdict`` is its newest run that says something of the code, ``failing_since`` the first failure after
    ``last_pass``; ``nights_not_run`` counts the days since ``verdict`` on which it could not be run.
    """

    cell: str
    verdict: SmokeRun | None
    failing_since: SmokeRun | None
    last_pass: SmokeRun | None
    last_failure: SmokeRun | None
    newest: SmokeRun | None
    not_run_since: SmokeRun | None
    nights_not_run: int

    @property
    def is_failing(self) -> bool:
        """Whether the newest verdict is a failure."""
        return self.verdict is not None and self.verdict.result is SmokeResult.FAILED

    @property
    def is_stuck(self) -> bool:
        """Whether there has been no verdict for so many nights that somebody has to look."""
        return self.nights_not_run >= NIGHTS_NOT_RUN

    @property
    def is_flaky(self) -> bool:
        """Whether it passed at last on the very commit on which it had failed before."""
        failed, passed = self.last_failure, self.last_pass
        return failed is not None and passed is not None and not self.is_failing and failed.sha == passed.sha


class Trouble(enum.Enum):
    """What the whole branch's test is like now."""

    NONE = "none"
    FAILING = "failing"
    STUCK = "not run"
    UNKNOWN = "unknown"


@record(frozen=True, slots=True)
class Standing:
    """The branch: its trouble, and the cells of the newest run."""

    trouble: Trouble
    cells: tuple[CellState, ...]

    @property
    def failing(self) -> tuple[CellState, ...]:
        """The cells that fail."""
        return tuple(cell for cell in self.cells if cell.is_failing)

    @property
    def stuck(self) -> tuple[CellState, ...]:
        """The cells without a verdict for some nights."""
        return tuple(cell for cell in self.cells if cell.is_stuck)

    @property
    def began_at(self) -> datetime | None:
        """When the trouble began: what a person closed before that was another one."""
        since = [cell.failing_since.at for cell in self.failing if cell.failing_since is not None]
        since = since or [cell.not_run_since.at for cell in self.stuck if cell.not_run_since is not None]
        return min(since, default=None)

    @property
    def signature(self) -> frozenset[tuple[str, str]]:
        """What is wrong, as a set: the failed tests of each cell, or its reason where no test is named."""
        found: set[tuple[str, str]] = set()
        for cell in self.failing:
            run = cell.verdict
            names = [case.name for case in run.tests.failures] if run is not None and run.tests is not None else []
            found |= {(cell.cell, name) for name in names or [run.reason_code if run is not None else ""]}
        return frozenset(found | {(cell.cell, Trouble.STUCK.value) for cell in self.stuck if not self.failing})


class Action(enum.Enum):
    """What is done with the issue."""

    NOTHING = "nothing"
    OPEN = "open"
    EDIT = "edit"
    REOPEN = "reopen"
    CLOSE = "close"


@record(frozen=True, slots=True)
class IssueStep:
    """One thing to do, and whether people who follow the issue are told."""

    action: Action
    is_told: bool = False


def stand(history: SmokeHistory, cells: Sequence[str]) -> Standing:
    """Return where a branch's test stands, by the cells that are in its matrix now."""
    states = tuple(_state(cell, history.of_cell(cell)) for cell in cells)
    if any(state.is_failing for state in states):
        return Standing(Trouble.FAILING, states)
    if any(state.is_stuck for state in states):
        return Standing(Trouble.STUCK, states)
    has_passed = any(state.newest is not None and state.newest.result is SmokeResult.PASSED for state in states)
    return Standing(Trouble.NONE if has_passed else Trouble.UNKNOWN, states)


def decide(now_standing: Standing, before: Standing, issue: StandingIssue | None, now: datetime) -> IssueStep:
    """Return what is done with the issue: never two of them, and people are told only of what is new."""
    trouble = now_standing.trouble
    if trouble is Trouble.UNKNOWN:
        return IssueStep(Action.NOTHING)
    if trouble is Trouble.NONE:
        is_over = issue is not None and issue.is_open
        return IssueStep(Action.CLOSE, is_told=True) if is_over else IssueStep(Action.NOTHING)
    if issue is None:
        return IssueStep(Action.OPEN)
    if issue.is_open:
        return IssueStep(Action.EDIT, is_told=now_standing.signature != before.signature)
    closed_at, began_at = issue.closed_at or now, now_standing.began_at
    if issue.is_unwanted and began_at is not None and began_at <= closed_at:
        return IssueStep(Action.NOTHING)
    return IssueStep(Action.REOPEN, is_told=True) if now - closed_at <= REOPEN_WITHIN else IssueStep(Action.OPEN)


def flaky_tests(runs: Sequence[SmokeRun]) -> frozenset[str]:
    """Return the tests of one cell that failed on a commit on which a later run passed."""
    passed_later: set[str] = set()
    found: set[str] = set()
    for run in reversed(runs):
        if run.result is SmokeResult.PASSED:
            passed_later.add(run.sha)
        elif run.result is SmokeResult.FAILED and run.sha in passed_later and run.tests is not None:
            found |= {case.name for case in run.tests.failures}
    return frozenset(found)


def _state(cell: str, runs: Sequence[SmokeRun]) -> CellState:
    told = [run for run in runs if run.result is not SmokeResult.NOT_RUN or run.reason_code not in _WILLED]
    verdicts = [run for run in told if run.result is not SmokeResult.NOT_RUN]
    passes = [run for run in verdicts if run.result is SmokeResult.PASSED]
    failures = [run for run in verdicts if run.result is SmokeResult.FAILED]
    streak = _after(verdicts, passes[-1] if passes else None)
    silent = _after(told, verdicts[-1] if verdicts else None)
    return CellState(
        cell=cell,
        verdict=verdicts[-1] if verdicts else None,
        failing_since=streak[0] if streak else None,
        last_pass=passes[-1] if passes else None,
        last_failure=failures[-1] if failures else None,
        newest=told[-1] if told else None,
        not_run_since=silent[0] if silent else None,
        nights_not_run=len({run.at.date() for run in silent}),
    )


def _after(runs: Sequence[SmokeRun], last: SmokeRun | None) -> Sequence[SmokeRun]:
    """Return the runs behind one of them; all where there is none."""
    if last is None:
        return runs
    index = max(index for index, run in enumerate(runs) if run is last)
    return runs[index + 1 :]
