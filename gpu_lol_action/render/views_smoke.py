"""View model of a smoke test's report: the result of each machine, what failed, and what the machines cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.smoke import (
    SmokeHistory,
    SmokeMachine,
    SmokeResult,
    SmokeRun,
    SmokeTest,
    TestCase,
    TestReport,
)
from gpu_lol_action.domain.smoke_issue import StandingIssue
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, clean_lines, link
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
from gpu_lol_action.render.views_smoke_history import MARKS, HistoryView, history_view

_WORDS = {SmokeResult.PASSED: Safe("passed"), SmokeResult.FAILED: Safe("failed"), SmokeResult.NOT_RUN: Safe("not run")}
MOST_LOG_LINES = 60
MOST_FAILURES = 10


@dataclass(frozen=True, slots=True)
class SmokeCase:
    """What a report is made from. ``tests`` are what was run, by project; that is empty where there is no choice.

    ``records`` are those of the machines that were rented, ``history`` the runs of the branch ``history_ref``, these among
    them where they are its own. ``issue`` is the one about that branch, ``folder`` where log and report lie.
    """

    ref: str
    tests: Sequence[tuple[str, SmokeTest]]
    runs: Sequence[SmokeRun]
    history: SmokeHistory
    records: Sequence[EnvironmentRecord]
    now: datetime
    reply_to: ReplyTo | None = None
    is_dry_run: bool = False
    history_ref: str = ""
    issue: StandingIssue | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class SlowTest:
    """One of the slowest tests, and its share of the time of all."""

    name: str
    took: Safe
    bar: Safe


@dataclass(frozen=True, slots=True)
class SmokeRow:
    """One machine of the matrix."""

    mark: Safe
    cell: str
    result: Safe
    machine: Safe
    place: str
    """The cloud, and what the machine's own checks named: driver, torch, CUDA."""
    tests: Safe
    took: Safe
    price: Safe
    cost: Safe
    why: str
    remedy: str
    offers: Sequence[str]
    failures: Sequence[TestCase]
    more_failures: Safe
    slowest: Sequence[SlowTest]
    note: str
    log: str
    is_named: bool
    is_labelled: bool
    """Whether the table names the cell beside its machine: a card alone says which it is."""
    memory: str = ""


@dataclass(frozen=True, slots=True)
class TestLine:
    """What is run, and why that; of which project, where there is a choice."""

    __test__ = False

    project: str
    command: str
    why: str


@dataclass(frozen=True, slots=True)
class SmokeView:
    """The whole report."""

    marker: Safe
    mark: Safe
    verdict: Safe
    sha: Safe
    ref: str
    tests: Sequence[TestLine]
    rows: Sequence[SmokeRow]
    cost: Safe
    is_dry_run: bool
    history: HistoryView | None
    issue: Safe
    folder: str
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
        tests=[TestLine(project, test.command, test.why) for project, test in case.tests],
        rows=[smoke_row(run, is_named=len(case.runs) > 1) for run in case.runs],
        cost=formats.usd(sum(costs, Decimal(0))) if costs else Safe("nothing"),
        is_dry_run=case.is_dry_run,
        history=history_view(case.history, [run.cell for run in case.runs], case.history_ref or case.ref),
        issue=link(Safe(f"#{case.issue.number}"), case.issue.url) if case.issue is not None else Safe(""),
        folder=case.folder,
        billing=total_billing_view(case.records, case.now, none=NONE_RUNNING if costs else NOTHING_LAUNCHED),
    )


def _verdict(runs: Sequence[SmokeRun], worst: SmokeResult) -> Safe:
    of = sum(run.result is worst for run in runs)
    return (
        _WORDS[worst] if len(runs) == 1 or of == len(runs) else Safe(f"{_WORDS[worst]} on {of} of {len(runs)} machines")
    )


def smoke_row(run: SmokeRun, *, is_named: bool) -> SmokeRow:
    """Return one machine's row and what is said below it."""
    machine, tests = run.machine, run.tests
    lines = clean_lines(run.log_tail)[-MOST_LOG_LINES:] if run.result is not SmokeResult.PASSED else []
    failures = tests.failures[:MOST_FAILURES] if tests is not None else ()
    more = tests.failed - len(failures) if tests is not None else 0
    return SmokeRow(
        mark=MARKS[run.result],
        cell=run.cell,
        result=_WORDS[run.result],
        machine=accelerator_label(machine.accelerator, machine.accelerator_count)
        if machine.accelerator
        else Safe("none"),
        place=_place(machine),
        tests=_counts(tests),
        took=formats.duration(run.took) if run.exit_code is not None else Safe("–"),
        price=formats.usd_per_hour(machine.price_usd_per_hour) if machine.price_usd_per_hour is not None else Safe("–"),
        cost=formats.usd(run.cost_usd) if run.cost_usd is not None else Safe("–"),
        why=run.why,
        remedy=run.remedy,
        offers=run.offers,
        failures=failures,
        more_failures=Safe(str(more)) if more > 0 else Safe(""),
        slowest=_slowest(tests) if tests is not None else (),
        note=run.report_note if run.result is SmokeResult.PASSED else "",
        log="\n".join(lines),
        is_named=is_named,
        memory=run.memory_note,
        is_labelled=is_named and run.cell.partition(":")[0] != machine.accelerator,
    )


def _counts(tests: TestReport | None) -> Safe:
    if tests is None:
        return Safe("–")
    parts = [(tests.passed, "passed"), (tests.failed, "failed"), (tests.skipped, "skipped")]
    return Safe(", ".join(f"{count} {word}" for count, word in parts if count) or "none")


def _place(machine: SmokeMachine) -> str:
    parts = (("driver", machine.driver), ("torch", machine.torch), ("CUDA", machine.cuda))
    named = [f"{name} {version}" for name, version in parts if version]
    return ", ".join(filter(None, (formats.cloud_name(machine.cloud), *named)))


def _slowest(tests: TestReport) -> Sequence[SlowTest]:
    whole = max(tests.seconds, *(case.seconds for case in tests.slowest), 0.001) if tests.slowest else 1.0
    return [
        SlowTest(case.name, formats.seconds(case.seconds), Safe(formats.bar(case.seconds / whole, 12)))
        for case in tests.slowest
    ]
