"""The smoke test on the machine: what is sent is data to its shell, what comes back is data to us."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import timedelta

from gpu_lol_action.domain.measurement import Measurement
from gpu_lol_action.domain.smoke import SmokeTest
from gpu_lol_action.launch.command import TIMED_OUT
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines
from gpu_lol_action.launch.samples import parse_samples, sampler_program

MOST_LOG_BYTES = 256 * 1024
"""Of the log, from its end: what a job summary can hold, and what the rules for errors are shown."""
MOST_REPORT_BYTES = 512 * 1024
"""A JUnit report of some thousand tests; a longer one is not read."""

_NUMBER = re.compile(r"[0-9]{1,15}")
_KINDS = ("log", "report")


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the test. ``report`` is the JUnit report's XML, None where there was none (``report_note`` says why not)."""

    exit_code: int
    took: timedelta
    log: str
    log_bytes: int
    is_timed_out: bool
    report: bytes | None = None
    report_note: str = ""
    measured: Measurement | None = None


def build_smoke_script(test: SmokeTest, folder: str, nonce: str) -> str:
    """Return the script that runs the test in the checkout, shows its lines as they come, and then log and report.

    pytest writes its JUnit report where ``PYTEST_ADDOPTS`` says, unless the command names a place of its own; that place
    is read too. ``GPU_LOL_JUNIT`` names the file for other runners.
    """
    values = {
        "script": test.command,
        "folder": folder,
        "own_report": named_report(test.command),
        "seconds": str(max(int(test.time_box.total_seconds()), 1)),
        "most_log": str(MOST_LOG_BYTES),
        "most_report": str(MOST_REPORT_BYTES),
        "sampler": sampler_program(),
        "nonce": check_nonce(nonce),
    }
    return build_script("machine_python", "watching", "smoke", values=values)


def named_report(command: str) -> str:
    """Return where a command itself has pytest write its report, relative to the checkout; nothing where it does not say."""
    found = re.findall(r"--junit-?xml[= ](?:\"([^\"]+)\"|'([^']+)'|([^\s\"';&|]+))", command)
    return next((part for part in found[-1] if part), "") if found else ""


def is_marker(line: str, nonce: str) -> bool:
    """Whether a line is our own, not the test's."""
    return line.startswith("::gpu-lol-smoke ") and nonce in line


def parse_smoke_output(output: str, time_box: timedelta, nonce: str) -> Trial | str:
    """Return what the test said, or why it could not be run."""
    said: dict[str, str] = {}
    parts: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for line in marked_lines(output, "smoke", nonce):
        key, _, value = line.partition(" ")
        if key in parts:
            parts[key].append(value)
        else:
            said.setdefault(key, value)
    if "failed" in said or "done" not in said:
        return said.get("failed", "the connection ended before the test was done")[:300]
    log, report = _decoded(parts["log"]), _decoded(parts["report"])
    if log is None or report is None:
        return "what the test said could not be read"
    code, took = _number(said.get("exit")), timedelta(seconds=_number(said.get("seconds")))
    return Trial(
        exit_code=code,
        took=took,
        log=log.decode("utf-8", "replace"),
        log_bytes=_number(said.get("log-bytes")),
        # A command may end with these codes of its own accord.
        is_timed_out=code in TIMED_OUT and took >= time_box - timedelta(seconds=1),
        report=report or None,
        measured=parse_samples(said.get("samples", "")),
        report_note=said.get("report-note", "")[:200],
    )


def _decoded(lines: list[str]) -> bytes | None:
    try:
        return base64.b64decode("".join(lines), validate=True)
    except (binascii.Error, ValueError):
        return None


def _number(text: str | None) -> int:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0
