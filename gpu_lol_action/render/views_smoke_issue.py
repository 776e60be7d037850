"""View model of the one issue about a branch's smoke test: what fails since when, or what keeps it from running."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeRun
from gpu_lol_action.domain.smoke_issue import CellState, Standing, Trouble, flaky_tests
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, link, visible
from gpu_lol_action.render.marker import build_marker, marker_prefix
from gpu_lol_action.render.views import NONE_RUNNING, BillingView, short_sha, total_billing_view
from gpu_lol_action.render.views_smoke import SmokeRow, smoke_row
from gpu_lol_action.render.views_smoke_history import HistoryView, history_view

KIND = "smoke_issue"
_FULL_SHA = 40


@dataclass(frozen=True, slots=True)
class SmokeIssueCase:
    """What an issue's text is made from. ``standing`` by the ``history`` with the newest runs, which are ``runs`` too."""

    server_url: str
    repository: str
    branch: str
    standing: Standing
    history: SmokeHistory
    runs: Sequence[SmokeRun]
    records: Sequence[EnvironmentRecord]
    now: datetime
    run_url: str = ""


@dataclass(frozen=True, slots=True)
class IssueCell:
    """One machine of the matrix in the issue; links and moments are empty where there is none."""

    name: str
    is_named: bool
    is_failing: bool
    is_flaky: bool
    is_silent: bool
    row: SmokeRow | None
    since: Safe
    since_sha: Safe
    passed_at: Safe
    passed_sha: Safe
    failed_sha: Safe
    span: Safe
    nights: Safe
    flaky: Sequence[str]
    newest: SmokeRun | None


@dataclass(frozen=True, slots=True)
class SmokeIssueView:
    """The whole text; ``trouble`` is one of failing, not run, none."""

    marker: Safe
    mark: Safe
    trouble: Safe
    branch: str
    cells: Sequence[IssueCell]
    history: HistoryView | None
    run: Safe
    checked_at: Safe
    billing: BillingView


def issue_prefix(branch: str) -> str:
    """Return what the issue about a branch starts with."""
    return marker_prefix(KIND, branch=branch)


def issue_title(branch: str, trouble: Trouble) -> str:
    """Return the issue's title, which is no Markdown."""
    said = {
        Trouble.FAILING: "GPU smoke test fails on",
        Trouble.STUCK: "GPU smoke test cannot be run on",
        Trouble.NONE: "GPU smoke test passes again on",
        Trouble.UNKNOWN: "GPU smoke test on",
    }
    return f"{said[trouble]} {visible(branch, 120)}"


def smoke_issue_view(case: SmokeIssueCase, kind: str = KIND) -> SmokeIssueView:
    """Return the text of the issue, or of a comment on it (``kind``)."""
    is_named = len(case.standing.cells) > 1
    cells = [_cell(case, state, is_named=is_named) for state in case.standing.cells]
    trouble = case.standing.trouble
    return SmokeIssueView(
        marker=build_marker(kind, branch=case.branch),
        mark=Safe({Trouble.FAILING: "🔴", Trouble.NONE: "🟢"}.get(trouble, "⚪")),
        trouble=Safe(trouble.value),
        branch=case.branch,
        cells=[cell for cell in cells if _is_shown(cell, trouble)],
        history=history_view(case.history, [state.cell for state in case.standing.cells], case.branch),
        run=link(Safe("the run"), case.run_url),
        checked_at=formats.night(case.now),
        billing=total_billing_view(case.records, case.now, none=NONE_RUNNING),
    )


def _is_shown(cell: IssueCell, trouble: Trouble) -> bool:
    """Whether a machine has a part in the trouble, or in its end."""
    if trouble is Trouble.NONE:
        return bool(cell.span) or cell.is_flaky
    return cell.is_failing or cell.is_silent


def _cell(case: SmokeIssueCase, state: CellState, *, is_named: bool) -> IssueCell:
    shown = state.verdict if state.is_failing else state.newest
    # The run of tonight has its log; what is in the history has none.
    tonight = next((run for run in case.runs if run.cell == state.cell and run.at == (shown and shown.at)), shown)
    flaky = flaky_tests(case.history.of_cell(state.cell))
    failed_now = (
        {test.name for test in shown.tests.failures} if shown is not None and shown.tests is not None else set()
    )
    since, passed, failed = state.failing_since, state.last_pass, state.last_failure
    return IssueCell(
        name=state.cell,
        is_named=is_named,
        is_failing=state.is_failing,
        is_flaky=state.is_flaky,
        is_silent=state.nights_not_run > 0,
        row=smoke_row(tonight, is_named=False) if tonight is not None else None,
        since=_when(since),
        since_sha=_commit(case, since),
        passed_at=_when(passed),
        passed_sha=_commit(case, passed),
        failed_sha=_commit(case, failed),
        span=_span(case, passed, since) if state.is_failing else _span(case, failed, passed),
        nights=formats.plural(state.nights_not_run, "night"),
        flaky=sorted(flaky & failed_now if state.is_failing else flaky)[:5],
        newest=state.newest,
    )


def _when(run: SmokeRun | None) -> Safe:
    return formats.night(run.at) if run is not None else Safe("")


def _commit(case: SmokeIssueCase, run: SmokeRun | None) -> Safe:
    if run is None:
        return Safe("")
    return (
        link(short_sha(run.sha), f"{case.server_url}/{case.repository}/commit/{run.sha}")
        if _is_sha(run.sha)
        else short_sha(run.sha)
    )


def _span(case: SmokeIssueCase, older: SmokeRun | None, newer: SmokeRun | None) -> Safe:
    """Return a link to the commits between two runs; nothing where there are none, or no two runs."""
    if older is None or newer is None or older.sha == newer.sha or not (_is_sha(older.sha) and _is_sha(newer.sha)):
        return Safe("")
    label = Safe(f"{older.sha[:7]}...{newer.sha[:7]}")
    return link(label, f"{case.server_url}/{case.repository}/compare/{older.sha}...{newer.sha}")


def _is_sha(text: str) -> bool:
    return len(text) == _FULL_SHA and all(letter in "0123456789abcdef" for letter in text)
