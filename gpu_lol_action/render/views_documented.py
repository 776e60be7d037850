"""The computed memory beside what documentation states, for one line of a comment or a terminal."""

from __future__ import annotations

from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.analysis.stated.ordinary_cards import stands_for_silence
from gpu_lol_action.analysis.stated.stated import Stated, stated_figures
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY
from gpu_lol_action.render.views_evidence import CodePlace


@record(frozen=True, slots=True)
class DocumentedView:
    """``kind``: weighed, taken (nothing was computed), apart (too far off to be about this run) or silent (nothing is said of larger cards).

    ``computed`` and ``asked`` are amounts per GPU; ``said`` is a card or an amount, ``size`` a card's usable memory.
    """

    kind: str
    computed: Safe
    said: str
    size: Safe
    where: Safe
    asked: Safe
    others: Safe


def documented_view(analysis: Analysis, place: CodePlace) -> DocumentedView | None:
    """Return the comparison; None where no GPU is needed or nothing that is stated of memory and cards has a say."""
    stated = [each for each in stated_figures(analysis) if each.kind != "gpu_count"]
    required, breakdown = analysis.proposed.hardware.vram_required_gb, analysis.breakdown
    if required is None or not analysis.proposed.needs_gpu:
        return None
    if breakdown is not None and breakdown.weighed is not None and stands_for_silence(breakdown):
        return _silent(breakdown, breakdown.weighed)
    if not stated:
        return None
    first = stated[0]
    if breakdown is None and not first.is_weighed:
        return None
    computed, agreed = 0.0, float(required)
    if breakdown is not None:
        # What both together come to; what is proposed may be somebody's correction of that, or a language model's.
        agreed = breakdown.required_gib
        computed = breakdown.required_gib if breakdown.computed_gib is None else breakdown.computed_gib
    more = len({(each.kind, each.finding.value) for each in stated} - {(first.kind, first.finding.value)})
    return DocumentedView(
        kind="apart" if not first.is_weighed else "weighed" if breakdown else "taken",
        computed=Safe(f"{computed:.3g} GiB"),
        said=_said(first),
        size=Safe(f"{first.memory_gib:g} GiB") if first.kind == "card" and first.memory_gib else Safe(""),
        where=place.link(first.finding.evidence),
        asked=Safe(f"{agreed:g} GiB"),
        others=formats.plural(more, "other statement") if more else Safe(""),
    )


def _silent(breakdown: MemoryBreakdown, weighed: Finding) -> DocumentedView:
    """Return what it counts for that nothing speaks of a larger card."""
    computed = breakdown.required_gib if breakdown.computed_gib is None else breakdown.computed_gib
    said = f"partly of what is assumed, and {weighed.why}" if weighed.field == SILENCE else f"and {weighed.why}"
    asked = Safe(f"{breakdown.required_gib:g} GiB")
    return DocumentedView("silent", Safe(f"{computed:.3g} GiB"), said, EMPTY, EMPTY, asked, EMPTY)


def _said(stated: Stated) -> str:
    return stated.finding.value if stated.kind == "card" else f"{stated.finding.value} GB"


def notes_beside(breakdown: MemoryBreakdown) -> tuple[str, ...]:
    """Return the notes on the memory but the one on documentation, which ``documented_view`` says better."""
    if breakdown.computed_gib is None:
        return breakdown.notes
    return tuple(note for note in breakdown.notes if not note.startswith(f"{breakdown.computed_gib:.3g} GiB computed"))
