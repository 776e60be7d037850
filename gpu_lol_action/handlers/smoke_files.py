"""Lay a smoke test's logs and reports where a workflow's artifact, or a person, finds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gpu_lol_action.domain.smoke import SmokeHistory
from gpu_lol_action.domain.smoke_json import history_to_json
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context

if TYPE_CHECKING:
    from gpu_lol_action.handlers.smoke_cell import CellEnd

_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")


def keep_files(context: Context, ends: Sequence[CellEnd]) -> str:
    """Write each machine's log and JUnit report, and the results as JSON; return the folder, nothing where there is none."""
    if context.reports is None or not any(end.record is not None for end in ends):
        return ""
    try:
        return context.reports.write(report_files(ends, context.redact))
    except GpuLolError as error:
        context.progress.note(f"Left out: log and test report as files ({error.explanation.what}).")
        return ""


def report_files(ends: Sequence[CellEnd], redact: Callable[[str], str]) -> dict[str, bytes]:
    """Return file names and contents. A report that is no UTF-8 is left out: nobody could look into it for secrets."""
    files = {"runs.json": history_to_json(SmokeHistory(tuple(end.run for end in ends))).encode()}
    for end in ends:
        name = _free_name(_FOREIGN.sub("-", end.run.cell).strip(".-")[:80] or "smoke", files)
        if end.run.log_tail:
            files[f"{name}.log"] = redact(end.run.log_tail).encode("utf-8", "replace")
        if end.report is not None:
            try:
                files[f"{name}.xml"] = redact(end.report.decode("utf-8")).encode()
            except UnicodeDecodeError:
                continue
    return files


def _free_name(name: str, files: dict[str, bytes]) -> str:
    taken = {file.rpartition(".")[0] for file in files}
    return next(each for each in (name, *(f"{name}-{count}" for count in range(2, 100_000))) if each not in taken)
