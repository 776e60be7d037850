"""What documentation and remarks state of hardware, in one form, to stand beside what was computed."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.stated.reconcile import statements
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.records import record

_PURPOSES = ("training", "inference")


@record(frozen=True, slots=True)
class Stated:
    """One statement: ``kind`` is memory, card or gpu_count; ``memory_gib`` (per GPU) is None for a count.

    ``purpose`` is what it is stated for, empty where that is not said; ``is_weighed``: the answer rests on it.
    """

    kind: str
    memory_gib: float | None
    purpose: str
    is_weighed: bool
    finding: Finding


def stated_figures(analysis: Analysis) -> tuple[Stated, ...]:
    """Return all statements, the one that was weighed first, then in the documents' order."""
    found = [*_sizes(analysis), *_counts(analysis)]
    return tuple(sorted(found, key=lambda each: not each.is_weighed))


def _sizes(analysis: Analysis) -> Iterator[Stated]:
    weighed = analysis.breakdown.weighed if analysis.breakdown else _taken(analysis)
    # What a model's own authors publish stands outside the checkout: it is no finding of the tree.
    outside = (weighed,) if weighed is not None and weighed not in analysis.findings else ()
    for each in statements((*analysis.findings, *outside), trains=True):
        kind = "card" if each.is_card else "memory"
        yield Stated(kind, each.memory_gib, _purpose(each.finding), each.finding == weighed, each.finding)


def _counts(analysis: Analysis) -> Iterator[Stated]:
    for finding in analysis.findings:
        if finding.field == "documented.gpu_count":
            yield Stated("gpu_count", None, "", is_weighed=False, finding=finding)


def _taken(analysis: Analysis) -> Finding | None:
    """Return the statement that was taken as it stands, where no sum was there to weigh it against."""
    need = best(analysis.findings, "hardware.vram_required_gb")
    if need is None:
        return None
    said = statements(analysis.findings, trains=True)
    return next(
        (s.finding for s in said if s.finding.evidence == need.evidence and need.why.startswith(s.finding.why)), None
    )


def _purpose(finding: Finding) -> str:
    words = finding.field.split(".")
    return next((purpose for purpose in _PURPOSES if purpose in words), "")
