"""Runs of a smoke test that were begun: entered first, told at their end, and closed by others where their runner was lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gpu_lol_action.domain.smoke import SmokeHistory, SmokeIntent, SmokeResult, SmokeRun

LOST = "runner_lost"
OVERDUE = timedelta(hours=1)
"""How long after its last time box a run is given up though nobody can say that it is over: reading code and ending machines
take their time, too."""

_WHY = "ended without a result: its runner was lost, or the job was killed or cancelled."
_REMEDY = (
    "Its own log says which, as far as it got. A runner of your own that is lost again and again may be short of memory, or "
    "switched off meanwhile. A machine that it left is ended by the next sweep."
)


def begin(history: SmokeHistory, intent: SmokeIntent) -> SmokeHistory:
    """Enter a run that is about to spend."""
    return replace(history, begun=(*history.begun, intent))


def conclude(history: SmokeHistory, intent: SmokeIntent, runs: Sequence[SmokeRun]) -> SmokeHistory:
    """Put a run's results in the place of its intent, and of what somebody took it for who had given it up."""
    given_up = lost_runs(intent)
    known = [run for run in history.runs if run not in given_up]
    return replace(history, runs=(*known, *runs), begun=_without(history.begun, intent))


def give_up(history: SmokeHistory, lost: Collection[SmokeIntent]) -> SmokeHistory:
    """Close runs that will not tell any more, each where it stands in time; what has been told meanwhile is left alone."""
    for intent in lost:
        if intent in history.begun:
            place = sum(run.at <= intent.at for run in history.runs)
            runs = (*history.runs[:place], *lost_runs(intent), *history.runs[place:])
            history = replace(history, runs=runs, begun=_without(history.begun, intent))
    return history


def lost_runs(intent: SmokeIntent) -> tuple[SmokeRun, ...]:
    """Return what a lost run counts as: not run, on each of its machines; whether one of them is still there it cannot say."""
    again = f" (attempt {intent.attempt})" if intent.attempt != "1" else ""
    # A terminal's run has a name that says nothing to people.
    name = f"Workflow run {intent.run_id}{again}" if intent.run_id.isdecimal() else "The run"
    lost = SmokeRun(
        cell="",
        sha=intent.sha,
        at=intent.at,
        result=SmokeResult.NOT_RUN,
        reason_code=LOST,
        why=f"{name} {_WHY}",
        remedy=_REMEDY,
        run_url=intent.run_url,
        is_clean=False,
    )
    return tuple(replace(lost, cell=cell) for cell in intent.cells)


def is_overdue(intent: SmokeIntent, now: datetime) -> bool:
    """Whether its time boxes have long passed: then it is over, whatever its workflow run is said to be."""
    return now > intent.ends_by + OVERDUE


def is_earlier_attempt(intent: SmokeIntent, run_id: str, attempt: str) -> bool:
    """Whether it is of this very workflow run before it was started again, which GitHub does of finished runs alone."""
    is_numbered = intent.attempt.isdecimal() and attempt.isdecimal()
    return intent.run_id == run_id and is_numbered and int(intent.attempt) < int(attempt)


def _without(begun: tuple[SmokeIntent, ...], intent: SmokeIntent) -> tuple[SmokeIntent, ...]:
    """Leave one of them out: two that look alike are two runs."""
    if intent not in begun:
        return begun
    place = begun.index(intent)
    return (*begun[:place], *begun[place + 1 :])
