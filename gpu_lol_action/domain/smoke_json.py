"""Histories of smoke tests as JSON text and back; what cannot be read is an error, never a guess."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from gpu_lol_action.domain.smoke import (
    KEPT_RUNS,
    KEPT_RUNS_OF_CELL,
    MOST_CELLS,
    SmokeHistory,
    SmokeIntent,
    SmokeMachine,
    SmokeResult,
    SmokeRun,
    TestCase,
    TestReport,
    TestStatus,
)

FORMAT = 1
_KEPT_CASES = 10
_KEPT_TEXT = 600


class UnreadableHistory(ValueError):
    """The text is no history of ours."""


def history_to_json(history: SmokeHistory) -> str:
    """Return the newest runs as text: logs stay with their runs, and long sentences are cut."""
    runs = [_run(run) for run in kept_runs(history.runs)]
    begun = [_intent(intent) for intent in history.begun]
    document = {"format": FORMAT, "issue": history.issue_number, "runs": runs, "begun": begun}
    return json.dumps(document, separators=(",", ":"))


def kept_runs(runs: Sequence[SmokeRun]) -> list[SmokeRun]:
    """Return which runs are kept: the newest of each cell, and of each the last that passed and the last that failed."""
    counts: Counter[str] = Counter()
    seen: set[tuple[str, SmokeResult]] = set()
    kept: list[SmokeRun] = []
    for run in reversed(runs):
        is_newest_of_its_kind = (run.cell, run.result) not in seen
        seen.add((run.cell, run.result))
        counts[run.cell] += 1
        has_room = counts[run.cell] <= KEPT_RUNS_OF_CELL and len(kept) < KEPT_RUNS
        if has_room or (is_newest_of_its_kind and len(counts) <= MOST_CELLS):
            kept.append(run)
    return kept[::-1]


def history_from_json(text: str) -> SmokeHistory:
    """Return the history behind a text. Raises UnreadableHistory for anything else."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise UnreadableHistory(f"format {document['format']!r} is not {FORMAT}")
        issue = document["issue"]
        if issue is not None and (not isinstance(issue, int) or isinstance(issue, bool)):
            raise UnreadableHistory("the issue's number is none")
        # Histories of earlier versions have no runs that were only begun.
        begun = tuple(_read_intent(each) for each in document.get("begun", []))
        return SmokeHistory(tuple(_read_run(each) for each in document["runs"]), issue, begun)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as error:
        raise UnreadableHistory(str(error) or type(error).__name__) from None


def _run(run: SmokeRun) -> dict[str, Any]:
    return {
        "cell": run.cell,
        "sha": run.sha,
        "at": run.at.isoformat(),
        "result": run.result.value,
        "reason": run.reason_code,
        "why": run.why[:_KEPT_TEXT],
        "remedy": run.remedy[:_KEPT_TEXT],
        "exit": run.exit_code,
        "seconds": run.took.total_seconds(),
        "tests": _report(run.tests) if run.tests is not None else None,
        "machine": {
            "cloud": run.machine.cloud,
            "gpu": run.machine.accelerator,
            "count": run.machine.accelerator_count,
            "driver": run.machine.driver,
            "cuda": run.machine.cuda,
            "torch": run.machine.torch,
            "usd_per_hour": _decimal(run.machine.price_usd_per_hour),
        },
        "usd": _decimal(run.cost_usd),
        "peak_gib": list(run.peak_memory_gib),
        "offers": list(run.offers),
        "url": run.run_url,
        "clean": run.is_clean,
        "note": run.report_note[:_KEPT_TEXT],
    }


def _intent(intent: SmokeIntent) -> dict[str, Any]:
    return {
        "run": intent.run_id,
        "attempt": intent.attempt,
        "sha": intent.sha,
        "at": intent.at.isoformat(),
        "ends_by": intent.ends_by.isoformat(),
        "cells": list(intent.cells),
        "url": intent.run_url,
    }


def _report(report: TestReport) -> dict[str, Any]:
    return {
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "seconds": report.seconds,
        "failures": [_case(case) for case in report.failures[:_KEPT_CASES]],
        "slowest": [_case(case) for case in report.slowest[:_KEPT_CASES]],
    }


def _case(case: TestCase) -> list[Any]:
    return [case.name, case.status.value, case.seconds, case.message[:_KEPT_TEXT]]


def _decimal(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


def _read_run(read: Mapping[str, Any]) -> SmokeRun:
    machine = read["machine"]
    return SmokeRun(
        cell=_text(read["cell"]),
        sha=_text(read["sha"]),
        at=_time(read["at"]),
        result=SmokeResult(read["result"]),
        reason_code=_text(read["reason"]),
        why=_text(read["why"]),
        remedy=_text(read["remedy"]),
        exit_code=None if read["exit"] is None else int(read["exit"]),
        took=timedelta(seconds=float(read["seconds"])),
        tests=None if read["tests"] is None else _read_report(read["tests"]),
        machine=SmokeMachine(
            cloud=_text(machine["cloud"]),
            accelerator=_text(machine["gpu"]),
            accelerator_count=int(machine["count"]),
            driver=_text(machine["driver"]),
            cuda=_text(machine["cuda"]),
            torch=_text(machine["torch"]),
            price_usd_per_hour=_read_decimal(machine["usd_per_hour"]),
        ),
        cost_usd=_read_decimal(read["usd"]),
        peak_memory_gib=tuple(float(each) for each in read["peak_gib"]),
        offers=tuple(_text(each) for each in read["offers"]),
        run_url=_text(read["url"]),
        is_clean=bool(read["clean"]),
        report_note=_text(read.get("note", "")),
    )


def _read_intent(read: Mapping[str, Any]) -> SmokeIntent:
    return SmokeIntent(
        run_id=_text(read["run"]),
        attempt=_text(read["attempt"]),
        sha=_text(read["sha"]),
        at=_time(read["at"]),
        ends_by=_time(read["ends_by"]),
        cells=tuple(_text(each) for each in read["cells"]),
        run_url=_text(read["url"]),
    )


def _time(value: object) -> datetime:
    at = datetime.fromisoformat(_text(value))
    if at.tzinfo is None:
        raise UnreadableHistory("a time has no zone")
    return at


def _read_report(read: Mapping[str, Any]) -> TestReport:
    return TestReport(
        passed=int(read["passed"]),
        failed=int(read["failed"]),
        skipped=int(read["skipped"]),
        seconds=float(read["seconds"]),
        failures=tuple(_read_case(each) for each in read["failures"]),
        slowest=tuple(_read_case(each) for each in read["slowest"]),
    )


def _read_case(read: list[Any]) -> TestCase:
    name, status, seconds, message = read
    return TestCase(_text(name), TestStatus(status), float(seconds), _text(message))


def _read_decimal(value: object) -> Decimal | None:
    return None if value is None else Decimal(_text(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableHistory(f"{type(value).__name__} where a text belongs")
    return value
