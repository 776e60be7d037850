"""Whose failure it was: the code's, or the machine's, from log and report together."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.smoke import SmokeResult, TestCase, TestReport, TestStatus
from gpu_lol_action.handlers.smoke_cell import Verdict, explained

FAILED = Verdict(SmokeResult.FAILED, "tests_failed", "The command ended with exit status 1.")
LOST = "RuntimeError: CUDA error: uncorrectable ECC error encountered"
OWN = "assert 3 == 4"


def report(*messages: str, failed: int | None = None) -> TestReport:
    cases = tuple(
        TestCase(f"tests/test_a.py::test_{n}", TestStatus.FAILED, 0.1, text) for n, text in enumerate(messages)
    )
    return TestReport(5, failed if failed is not None else len(cases), 0, 1.0, cases)


@pytest.mark.parametrize(
    ("found", "result"),
    [
        (None, SmokeResult.NOT_RUN),
        ("it has 600000 bytes", SmokeResult.NOT_RUN),
        (report(), SmokeResult.NOT_RUN),
        (report(LOST), SmokeResult.NOT_RUN),
        (report(LOST, LOST), SmokeResult.NOT_RUN),
        (report(OWN), SmokeResult.FAILED),
        (report(LOST, OWN), SmokeResult.FAILED),
        (report(LOST, ""), SmokeResult.FAILED),
        (report(LOST, failed=2), SmokeResult.FAILED),
    ],
    ids=["no report", "unreadable", "none failed", "lost", "all lost", "own", "one of its own", "silent", "one not listed"],
)  # fmt: skip
def test_a_line_of_the_log_hides_no_test_that_failed_on_its_own(
    found: TestReport | str | None, result: SmokeResult
) -> None:
    verdict = explained(FAILED, f"collected 5 items\n{LOST}\n", found)
    assert verdict.result is result
    assert "The GPU itself failed" in verdict.why
    assert verdict.remedy


def test_a_download_is_the_machines_fault_only_in_set_up() -> None:
    log = "fatal: unable to access 'https://example.org/': Could not resolve host: example.org"
    assert explained(FAILED, log).result is SmokeResult.FAILED
    assert explained(Verdict(SmokeResult.FAILED, "setup_failed"), log).result is SmokeResult.NOT_RUN


def test_what_passed_or_was_not_run_keeps_its_verdict() -> None:
    passed = Verdict(SmokeResult.PASSED, "passed")
    assert explained(passed, LOST) == passed
