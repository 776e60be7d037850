"""An analysis with measured truth over its estimate: the range, the need, and where the repository's file now disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.another_need import needing
from gpu_lol_action.analysis.answer.measured_run import takes_all
from gpu_lol_action.analysis.memory.saved_runs import FLOOR, STAYS
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.estimation.calibration import calibrate

if TYPE_CHECKING:
    from gpu_lol_action.domain.measured import MeasuredRun


def calibrated(analysis: Analysis, runs: Sequence[MeasuredRun], spec_text: str | None) -> Analysis:
    """Return the analysis as measurements of the very same workload correct it; the file's own word stands, and is doubted.

    What a language model has changed is not touched: its word was weighed against the code's, not against this.
    """
    if analysis.breakdown is None or analysis.override is not None or takes_all(analysis):
        return analysis
    breakdown = calibrate(analysis.breakdown, runs)
    if breakdown == analysis.breakdown:
        return analysis
    why = breakdown.notes[len(analysis.breakdown.notes)]
    # What was asked for without a measurement is no longer.
    breakdown = replace(breakdown, notes=tuple(n for n in breakdown.notes if FLOOR not in n and STAYS not in n))
    return needing(analysis, breakdown, why, spec_text, confidence=Confidence.HIGH)
