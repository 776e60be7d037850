"""Documentation that lags behind: what it states was written for the configuration before a change, and is carried over to it.

A statement is weighed above the computed sum because it was measured, on the code beside which it stood. Where a change
leaves the statement as it is and moves the sum, the statement still speaks of the old sum: by how much the two differed there
is what it teaches, and by as much the new sum is corrected. Otherwise a batch twice as large would ask for a tenth more. So it is
where the new sum lies nearer to another statement, or too far from any: a pull request that touches no document does not move
what is said in one from this run to another.

Sums that hold only with something assumed are no measure of a change: four times the batch, for which checkpointing is assumed,
comes to less than the batch did. There both are compared as they are written.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.answer.counterfactual import need_as_said
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.training.placement import LARGE_CARD_GIB, need_of
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.card_sizes import asking_for, size_class_gb, sold_gb
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec import EnvironmentSpec, SpecDifference
from gpu_lol_action.domain.sums import added

FIELD = "hardware.vram_required_gb"
LEAST_CHANGE = 0.02
"""Of the sum: below it no configuration was changed that matters for memory."""
MOST_CHANGE = 2.5
"""Times the sum: beyond it a statement that is not weighed any more is of another run (``reconcile.FURTHEST``)."""


def carried(head: Analysis, base: Analysis) -> Analysis:
    """Return the head's analysis with what base and documentation agreed on carried over, where the change leaves that as it is."""
    new, old = head.breakdown, base.breakdown
    if new is None or old is None:
        return head
    is_same = _is_same_statement(new.weighed, old.weighed)
    ratio = _ratio(head, base, new, old)
    if abs(ratio - 1) < LEAST_CHANGE:
        return head
    over = old.required_gib * ratio
    if old.required_gib <= LARGE_CARD_GIB:
        over = need_of(replace(new, required_gib=over))
    over = max(1, math.ceil(over - 0.05))
    if _is_relaxed(head.first):  # what no card holds is asked for as what it fits with
        over = min(over, max(math.floor(LARGE_CARD_GIB), int(new.required_gib)))
    found = new
    if is_same or _is_same_run(head, base):
        if old.weighed is not None and (is_same or 1 / MOST_CHANGE <= ratio <= MOST_CHANGE):
            found = _with_agreed(head, new, old, over)
        elif old.weighed is None and new.weighed is not None:
            found = _without_statement(new)
    is_less_for_more = ratio > 1 and found.required_gib < old.required_gib and _is_on_as_many(head, base)
    if is_less_for_more and _is_relaxed(head.first):
        found = _no_less(found, over)
    return _asked_for(head, found, int(new.required_gib)) if found is not new else head


def _ratio(head: Analysis, base: Analysis, new: MemoryBreakdown, old: MemoryBreakdown) -> float:
    """Return by how much the change multiplies the memory of a card: as computed, or as written where something had to be assumed."""
    if head.first is not None and base.first is not None and (_is_relaxed(head.first) or _is_relaxed(base.first)):
        after, before = (need_as_said(each.findings, {}) for each in (head.first, base.first))
        if (
            after.expected_gib and before.expected_gib
        ):  # on all cards: as it is written it may be divided over more of them
            return after.total_gib / before.total_gib
    return _computed(new) / max(_computed(old), 1.0)


def _computed(breakdown: MemoryBreakdown) -> float:
    return breakdown.required_gib if breakdown.computed_gib is None else breakdown.computed_gib


def _is_relaxed(run: Profile | None) -> bool:
    return run is not None and run.is_relaxed


def _is_same_run(head: Analysis, base: Analysis) -> bool:
    """Whether the same program trains or runs the same model on as many cards, and no document says anything else than it did."""
    if head.first is None or base.first is None or head.first.name != base.first.name:
        return False
    if not _is_on_as_many(head, base):
        return False
    if any(
        value_of_best(head.findings, each) != value_of_best(base.findings, each) for each in ("model.id", "workload")
    ):
        return False
    said = [
        sorted((f.field, f.value, f.evidence.path) for f in each.findings if f.field.startswith("documented"))
        for each in (head, base)
    ]
    return said[0] == said[1]


def _is_on_as_many(head: Analysis, base: Analysis) -> bool:
    return head.proposed.hardware.gpu_count == base.proposed.hardware.gpu_count


def _asked_for(head: Analysis, breakdown: MemoryBreakdown, agreed: int) -> Analysis:
    """Return the analysis with what a breakdown requires asked for in place of what was agreed on."""
    required, why = int(breakdown.required_gib), breakdown.notes[-1]
    finding = next((item for item in head.findings if item.field == FIELD), None)
    changed = replace(finding, value=str(required), why=why) if finding is not None else None
    return replace(
        head,
        breakdown=breakdown,
        findings=tuple(changed if changed is not None and item is finding else item for item in head.findings),
        proposed=_asking(head.proposed, agreed, required),
        spec=_asking(head.spec, agreed, required),
        differences=_differences(head, required, why),
    )


def _is_same_statement(one: Finding | None, other: Finding | None) -> bool:
    """Whether both name the same thing in the same file; its line may have moved."""
    if one is None or other is None:
        return False
    return (one.field, one.value, one.evidence.path) == (other.field, other.value, other.evidence.path)


def _with_agreed(head: Analysis, new: MemoryBreakdown, old: MemoryBreakdown, required: int) -> MemoryBreakdown:
    """Return the breakdown with the base's agreement, and the statement that was weighed there in the place of any other."""
    said = next((item for item in head.findings if _is_same_statement(item, old.weighed)), new.weighed or old.weighed)
    place = said.evidence if said is not None else ""
    note = (
        f"{_computed(new):.3g} GiB computed, and what {place} names is of the configuration before this change: "
        f"{_computed(old):.3g} GiB computed, {old.required_gib:g} agreed, which is carried over"
    )
    return replace(_requiring(new, required, note), computed_gib=_computed(new), weighed=said)


def _without_statement(new: MemoryBreakdown) -> MemoryBreakdown:
    """Return the breakdown with its own sum, where what is stated was not of this run before the change either."""
    place = new.weighed.evidence if new.weighed is not None else ""
    note = f"what {place} names was of another run before this change, and is so after it"
    required = max(1, math.ceil(_computed(new) - 0.05))
    return replace(_requiring(new, required, note), computed_gib=None, weighed=None)


def _no_less(new: MemoryBreakdown, required: int) -> MemoryBreakdown:
    """Return the breakdown of a run that needs more than before as it is written, and fits less only with what is assumed."""
    note = f"{new.required_gib:g} GiB would do with what is assumed; as it is written the run needs more than before this change"
    return _requiring(new, required, note)


def _requiring(new: MemoryBreakdown, required: int, note: str) -> MemoryBreakdown:
    kept = tuple(each for each in new.notes if not each.startswith(f"{_computed(new):.3g} GiB computed"))
    sums = (added(term.gib for term in new.terms), float(required))
    return replace(new, required_gib=float(required), low_gib=min(new.low_gib, *sums), high_gib=max(new.high_gib, *sums),
                   notes=(*kept, note))  # fmt: skip


def _differences(head: Analysis, required: int, why: str) -> tuple[SpecDifference, ...]:
    """Return where file and code disagree, with the new need: too little in the file is now said, enough no longer."""
    others = tuple(each for each in head.differences if each.key != FIELD)
    stated = head.spec.hardware.vram_required_gb
    is_stated = head.is_from_file and stated != head.proposed.hardware.vram_required_gb
    if not is_stated or stated is None or sold_gb(required) <= size_class_gb(stated):
        return others
    return (SpecDifference(FIELD, f"{stated} GB", f"{sold_gb(required)} GB", why), *others)


def _asking(spec: EnvironmentSpec, agreed: int, required: int) -> EnvironmentSpec:
    """Return the spec with the new need where it asks for what was agreed: what a file states stays as it is."""
    if spec.hardware.vram_required_gb != sold_gb(agreed):
        return spec
    return replace(spec, hardware=asking_for(spec.hardware, required))
