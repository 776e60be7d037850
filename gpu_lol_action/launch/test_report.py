"""A smoke test's own report beside its exit status: read, cleaned, and what is said where the two do not agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpu_lol_action.domain.smoke import TestCase, TestReport
from gpu_lol_action.launch.junit import parse_junit
from gpu_lol_action.launch.smoke import Trial


def read_report(tested: Trial | None) -> TestReport | str | None:
    """Return what the test's report says, why it cannot be read, or None where there is none."""
    if tested is None:
        return None
    if tested.report is not None:
        return parse_junit(tested.report)
    return tested.report_note if tested.report_note.startswith("it has ") else None


def report_sentence(report: TestReport | str | None, *, is_passed: bool) -> str:
    """Return what the report says against the exit status, or why it says nothing; empty where the two agree."""
    if is_passed:
        failed = report.failed if isinstance(report, TestReport) else 0
        return f"It ended with status 0 although its report names {failed} failed tests." if failed else ""
    if isinstance(report, str):
        return f"Its test report could not be read: {report}."
    if report is None:
        return "It left no test report."
    return "" if report.failed else f"None of the {report.total} tests in its report failed."


def redacted_report(report: TestReport, redact: Callable[[str], str]) -> TestReport:
    """Return a report without what looks like a secret in its names and messages."""
    return _each(report, lambda case: replace(case, name=redact(case.name), message=redact(case.message)))


def placed_report(report: TestReport, folder: str) -> TestReport:
    """Return the report of tests that were run in a folder of the checkout with paths from its root.

    pytest tells them from its own root, which is the folder, or lies above it where that has the configuration.
    """

    def place(path: str) -> str:
        return path if not path or path.startswith(f"{folder}/") else f"{folder}/{path}"

    return _each(report, lambda case: replace(case, path=place(case.path))) if folder else report


def _each(report: TestReport, change: Callable[[TestCase], TestCase]) -> TestReport:
    return replace(report, failures=tuple(map(change, report.failures)), slowest=tuple(map(change, report.slowest)))
