"""Lengths that a run has no use for: a model of sounds or pictures reads no texts, and a kernel's block is none of its sizes."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.media import OWN
from gpu_lol_action.estimation.vram import VramQuestion, estimate_vram

FIELD = "training.sequence_length"


def without_unused(findings: tuple[Finding, ...], need: MemoryNeed | None) -> tuple[Finding, ...]:
    """Return the findings without lengths that are not surely the run's where its memory does not grow with them.

    What a network of one's own keeps per sample has its length in it already.
    """
    if (
        need is None
        or need.question is None
        or need.question.model.kind == OWN
        or not any(_is_doubtful(finding) for finding in findings)
    ):
        return findings
    return findings if _grows(need.question) else tuple(f for f in findings if not _is_doubtful(f))


def _is_doubtful(finding: Finding) -> bool:
    return finding.field == FIELD and finding.confidence is not Confidence.HIGH


def _grows(question: VramQuestion) -> bool:
    longer = replace(question, sequence_length=2 * question.sequence_length)
    return estimate_vram(longer).expected_gib != estimate_vram(question).expected_gib
