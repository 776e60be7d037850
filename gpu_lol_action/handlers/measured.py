"""Hold what a run was measured to use against its estimate, and keep both where the next estimate looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.measured_run import Estimated, estimated_for
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.measured_json import MAX_COMMAND, card_name
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.estimation.calibration import advise, runs_of
from gpu_lol_action.render.measured_text import advice_line, comparison_line, usage_line

if TYPE_CHECKING:
    from gpu_lol_action.analysis.files.checkout import Checkout
    from gpu_lol_action.domain.analysis import Analysis
    from gpu_lol_action.domain.measurement import Measurement
    from gpu_lol_action.handlers.context import Context

LEAST_GIB = 0.5
"""Below it a card holds its context at most: the command did not use it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ran to its end, or not, on the code of a commit: what it was, and what it used."""

    how: str
    command: str
    sha: str
    at: datetime
    exit_code: int
    measured: Measurement


@dataclass(frozen=True, slots=True)
class Scene:
    """The code that was run. ``is_kept``: nobody but those who may push wrote it, so that what it says of itself counts."""

    checkout: Checkout
    analysis: Analysis
    is_kept: bool


def measured_runs(context: Context) -> Sequence[MeasuredRun]:
    """Return what was measured here; nothing where it cannot be read, which is noted."""
    if context.measured is None:
        return ()
    try:
        return context.measured().read().runs
    except GpuLolError as error:
        context.progress.note(f"Left out: what was measured before ({error.explanation.what}).")
        return ()


def is_gpu_used(measured: Measurement | None) -> bool:
    """Whether a command held more on any card than a context."""
    return measured is not None and (measured.peak_gib or 0.0) >= LEAST_GIB


def tell_measured(context: Context, ran: Ran, scene: Scene) -> str:
    """Return what was used, against the estimate and the repository's file, and keep it. Empty lines are left out."""
    usage = usage_line(ran.measured)
    if not is_gpu_used(ran.measured):
        return usage
    found = estimated_for(ran.command, scene.checkout, scene.analysis)
    run = _run_of(context, ran, found if isinstance(found, Estimated) else None)
    before = measured_runs(context)
    if scene.is_kept:
        _keep(context, run)
    if isinstance(found, str):
        return f"{usage} Not compared: {found}."
    spec = scene.analysis.spec
    is_asked = found.is_first and scene.analysis.is_from_file and run.low_gib is not None
    asked = spec.hardware.vram_required_gb if is_asked else None
    advice = advise(asked, run.low_gib or 0.0, [*runs_of(run.workload, before), run])
    return " ".join(filter(None, (usage, comparison_line(run), advice_line(advice))))


def _run_of(context: Context, ran: Ran, found: Estimated | None) -> MeasuredRun:
    gpu = max(ran.measured.gpus, key=lambda each: each.peak_gib or 0.0)
    breakdown = found.breakdown if found is not None else None
    low, expected, high = breakdown.estimated if breakdown is not None else (None, None, None)
    command = "".join(sign if sign.isprintable() else " " for sign in context.redact(ran.command))
    return MeasuredRun(
        at=ran.at,
        sha=ran.sha,
        how=ran.how,
        command=command[:MAX_COMMAND],
        card=card_name(gpu.name),
        peak_gib=round(gpu.peak_gib or 0.0, 2),
        card_gib=round(gpu.total_gib, 2) if gpu.total_gib is not None else None,
        samples=ran.measured.samples,
        is_whole=ran.exit_code == 0,
        workload=breakdown.workload if breakdown is not None else None,
        low_gib=low,
        expected_gib=expected,
        high_gib=high,
    )


def _keep(context: Context, run: MeasuredRun) -> None:
    if context.measured is None:
        return
    try:
        context.measured().change(lambda book: book.with_run(run))
    except GpuLolError as error:
        context.progress.note(f"Left out: what was measured, from the book ({error.explanation.what}).")
