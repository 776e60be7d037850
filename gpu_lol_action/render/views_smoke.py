"""View model of a smoke test's report: the result of each machine, what failed, and what the machines cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeResult, SmokeRun, SmokeTest, TestCase
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, clean_lines
from gpu_lol_action.render.views import (
    NONE_RUNNING,
    NOTHING_LAUNCHED,
    BillingView,
    ReplyTo,
    accelerator_label,
    reply_marker,
    short_sha,
    total_billing_view,
)

MARKS = {SmokeResult.PASSED: Safe("🟢"), SmokeResult.FAILED: Safe("🔴"), SmokeResult.NOT_RUN: Safe("⚪")}
_WORDS = {SmokeResult.PASSED: Safe("passed"), SmokeResult.FAILED: Safe("failed"), SmokeResult.NOT_RUN: Safe("not run")}
MOST_LOG_LINES = 60
MOST_FAILURES = 10


@dataclass(frozen=True, slots=True)
class SmokeCase:
    """What a report is made from. ``records`` are those of the machines that were rented, ``history`` the branch's."""

    ref: str
    test: SmokeTest
    runs: Sequence[SmokeRun]
    history: SmokeHistory
    records: Sequence[EnvironmentRecord]
    now: datetime
    reply_to: ReplyTo | None = None
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True)
class SmokeRow:
    """One machine of the matrix."""

    mark: Safe
    cell: str
    result: Safe
    machine: Safe
    cloud: str
    tests: Safe
    took: Safe
    cost: Safe
    why: str
    remedy: str
    offers: Sequence[str]
    failures: Sequence[TestCase]
    log: str
    is_named: bool
    memory: str = ""


@dataclass(frozen=True, slots=True)
class SmokeView:
    """The whole report."""

    marker: Safe
    mark: Safe
    verdict: Safe
    sha: Safe
    ref: str
    command: str
    why_this: str
    rows: Sequence[SmokeRow]
    cost: Safe
    is_dry_run: bool
    billing: BillingView


def smoke_view(case: SmokeCase) -> SmokeView:
    """Return the report of one run."""
    results = {run.result for run in case.runs}
    worst = next(each for each in (SmokeResult.FAILED, SmokeResult.NOT_RUN, SmokeResult.PASSED) if each in results)
    costs = [run.cost_usd for run in case.runs if run.cost_usd is not None]
    return SmokeView(
        marker=reply_marker(case.reply_to, "smoke"),
        mark=Safe("⚪") if case.is_dry_run else MARKS[worst],
        verdict=Safe("would be run") if case.is_dry_run else _verdict(case.runs, worst),
        sha=short_sha(case.runs[0].sha) if case.runs else Safe(""),
        ref=case.ref,
        command=case.test.command,
        why_this=case.test.why,
        rows=[_row(run, is_named=len(case.runs) > 1) for run in case.runs],
        cost=formats.usd(sum(costs, Decimal(0))) if costs else Safe("nothing"),
        is_dry_run=case.is_dry_run,
        billing=total_billing_view(case.records, case.now, none=NONE_RUNNING if costs else NOTHING_LAUNCHED),
    )


def _verdict(runs: Sequence[SmokeRun], worst: SmokeResult) -> Safe:
    of = sum(run.result is worst for run in runs)
    return (
        _WORDS[worst] if len(runs) == 1 or of == len(runs) else Safe(f"{_WORDS[worst]} on {of} of {len(runs)} machines")
    )


def _row(run: SmokeRun, *, is_named: bool) -> SmokeRow:
    machine, tests = run.machine, run.tests
    said = Safe("–")
    if tests is not None:
        parts = [(tests.passed, "passed"), (tests.failed, "failed"), (tests.skipped, "skipped")]
        said = Safe(", ".join(f"{count} {word}" for count, word in parts if count) or "none")
    lines = clean_lines(run.log_tail)[-MOST_LOG_LINES:] if run.result is not SmokeResult.PASSED else []
    return SmokeRow(
        mark=MARKS[run.result],
        cell=run.cell,
        result=_WORDS[run.result],
        machine=accelerator_label(machine.accelerator, machine.accelerator_count)
        if machine.accelerator
        else Safe("none"),
        cloud=formats.cloud_name(machine.cloud) if machine.cloud else "",
        tests=said,
        took=formats.duration(run.took) if run.exit_code is not None else Safe("–"),
        cost=formats.usd(run.cost_usd) if run.cost_usd is not None else Safe("–"),
        why=run.why,
        remedy=run.remedy,
        offers=run.offers,
        failures=tests.failures[:MOST_FAILURES] if tests is not None else (),
        log="\n".join(lines),
        is_named=is_named,
        memory=run.memory_note,
    )
