"""A test's report as it is kept: without secrets, and with the paths that its files have in the checkout."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.smoke import TestCase, TestReport, TestStatus
from gpu_lol_action.launch.test_report import placed_report, redacted_report


def report(path: str) -> TestReport:
    case = TestCase("test_key_hf_secret", TestStatus.FAILED, 1.0, "hf_secret", path, 3)
    return TestReport(0, 1, 0, 1.0, (case,), (case,))


@pytest.mark.parametrize(
    ("path", "folder", "wanted"),
    [
        ("tests/test_net.py", "", "tests/test_net.py"),
        ("tests/test_net.py", "ml", "ml/tests/test_net.py"),
        # pytest's root may lie above the folder that it is started in.
        ("ml/tests/test_net.py", "ml", "ml/tests/test_net.py"),
        ("ml.py", "ml", "ml/ml.py"),
        ("", "ml", ""),
    ],
)
def test_paths_are_those_of_the_checkout(path: str, folder: str, wanted: str) -> None:
    kept = placed_report(report(path), folder)
    assert {(case.path, case.line) for case in (*kept.failures, *kept.slowest)} == {(wanted, 3)}


def test_what_looks_like_a_secret_is_out() -> None:
    kept = redacted_report(report("a.py"), lambda text: text.replace("hf_secret", "[redacted]"))
    told = {(case.name, case.message, case.path) for case in (*kept.failures, *kept.slowest)}
    assert told == {("test_key_[redacted]", "[redacted]", "a.py")}
