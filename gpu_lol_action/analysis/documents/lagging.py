"""Documentation that lags behind: what it states was written for the configuration before a change, and is carried over to it.

A statement is weighed above the computed sum because it was measured, on the code beside which it stood. Where a change
leaves the statement as it is and moves the sum, the statement still speaks of the old sum: by how much the two differed there
is what it teaches, and by as much the new sum is corrected. Otherwise a batch twice as large would ask for a tenth more.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.card_sizes import asking_for, size_class_gb, sold_gb
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.spec import EnvironmentSpec, SpecDifference
from gpu_lol_action.domain.sums import added

FIELD = "hardware.vram_required_gb"
LEAST_CHANGE = 0.02
"""Of the sum: below it no configuration was changed that matters for memory."""


def carried(head: Analysis, base: Analysis) -> Analysis:
    """Return the head's analysis with the base's agreement carried over, where one statement was weighed on both."""
    new, old = head.breakdown, base.breakdown
    if new is None or old is None or not _is_same_statement(new.weighed, old.weighed):
        return head
    if new.computed_gib is None or old.computed_gib is None or not old.computed_gib:
        return head
    ratio = new.computed_gib / old.computed_gib
    if abs(ratio - 1) < LEAST_CHANGE:
        return head
    required = max(1, math.ceil(old.required_gib * ratio - 0.05))
    breakdown = _with_required(new, old, required)
    finding = next((item for item in head.findings if item.field == FIELD), None)
    changed = replace(finding, value=str(required), why=breakdown.notes[-1]) if finding is not None else None
    agreed = int(new.required_gib)
    return replace(
        head,
        breakdown=breakdown,
        findings=tuple(changed if changed is not None and item is finding else item for item in head.findings),
        proposed=_asking(head.proposed, agreed, required),
        spec=_asking(head.spec, agreed, required),
        differences=_differences(head, required, breakdown.notes[-1]),
    )


def _is_same_statement(one: Finding | None, other: Finding | None) -> bool:
    """Whether both name the same thing in the same file; its line may have moved."""
    if one is None or other is None:
        return False
    return (one.field, one.value, one.evidence.path) == (other.field, other.value, other.evidence.path)


def _with_required(new: MemoryBreakdown, old: MemoryBreakdown, required: int) -> MemoryBreakdown:
    place = new.weighed.evidence if new.weighed is not None else ""
    note = (
        f"{new.computed_gib:.3g} GiB computed, and what {place} names is of the configuration before this change: "
        f"{old.computed_gib:.3g} GiB computed, {old.required_gib:g} agreed, which is carried over"
    )
    kept = tuple(each for each in new.notes if not each.startswith(f"{new.computed_gib:.3g} GiB computed"))
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
