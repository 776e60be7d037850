"""An analysis with another need for memory than the code alone says: in finding, proposal and spec at once, the file's own word apart."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.answer.differences import complete, differences, file_of
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.card_sizes import asking_for
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.memory import MemoryBreakdown

FIELD = "hardware.vram_required_gb"


def needing(
    analysis: Analysis,
    breakdown: MemoryBreakdown,
    why: str,
    spec_text: str | None,
    *,
    least_gb: int = 0,
    confidence: Confidence | None = None,
) -> Analysis:
    """Return the analysis asking for what a breakdown requires, for the reason ``why``.

    ``spec_text`` is the text of the repository's file: what it states stays, and is told apart. ``least_gb`` is the smallest size that
    is asked for, ``confidence`` how sure the need is (None: as before).
    """
    required = int(breakdown.required_gib)
    findings = tuple(
        replace(each, value=str(required), why=why, confidence=confidence or each.confidence)
        if each.field == FIELD
        else each
        for each in analysis.findings
    )
    proposed = replace(analysis.proposed, hardware=asking_for(analysis.proposed.hardware, required, least_gb))
    file = file_of(spec_text, analysis.spec_place)
    return replace(
        analysis,
        breakdown=breakdown,
        findings=findings,
        proposed=proposed,
        spec=complete(file, proposed) if file is not None else proposed,
        differences=differences(file, proposed, findings) if file is not None else (),
    )
