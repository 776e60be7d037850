"""Documentation that lags behind: what it states was written for the configuration before a change, and is carried over to it.

A statement is weighed above the computed sum because it was measured, on the code beside which it stood. Where a change
leaves the statement as it is and moves the sum, the statement still speaks of the old sum: by how much the two differed there
is what it teaches, and by as much the new sum is corrected. Otherwise a batch twice as large would ask for a tenth more. So it is
where the new sum lies nearer to another statement, or too far from any: a pull request that touches no document does not move
what is said in one from this run to another.

Sums that hold only with something assumed are no measure of a change: four times the batch, for which checkpointing is assumed,
comes to less than the batch did. Nothing is scaled by them; who needs more as it is written is asked for no less than before.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_lol_action.analysis.answer.another_need import needing
from gpu_lol_action.analysis.answer.counterfactual import need_as_said
from gpu_lol_action.analysis.documents.silent_documents import SILENCE
from gpu_lol_action.analysis.formats.surest import value_of_best
from gpu_lol_action.analysis.memory.least_size import least_again
from gpu_lol_action.analysis.memory.saved_runs import FLOOR, STAYS
from gpu_lol_action.analysis.runs.documented_places import FIELD as FIELD_OF_PLACES
from gpu_lol_action.analysis.stated.ordinary_cards import stands_for_silence
from gpu_lol_action.analysis.training.placement import LARGE_CARD_GIB, need_of
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.sums import added

LEAST_CHANGE = 0.02
"""Of the sum: below it no configuration was changed that matters for memory."""
MOST_CHANGE = 2.5
"""Times the sum: beyond it a statement that is not weighed any more is of another run (``reconcile.FURTHEST``)."""
_NO_STATEMENTS = frozenset({SILENCE, FIELD_OF_PLACES})
_AT_WORK = frozenset({"activations", "logits", "KV cache"})


def may_be_carried(head: Analysis) -> bool:
    """Whether any base can make a difference to an analysis: documents state something, or something was assumed so that it fits."""
    if head.breakdown is None or head.override is not None:
        return False
    stated = (each.field for each in head.findings if each.field.startswith("documented"))
    return _is_relaxed(head.first) or any(field not in _NO_STATEMENTS for field in stated)


def carried(head: Analysis, base: Analysis, spec_text: str | None = None) -> Analysis:
    """Return the head's analysis with what base and documentation agreed on carried over, where the change leaves that as it is.

    ``spec_text`` is the head's file, whose own word stands. Runs over different numbers of cards are not compared.
    """
    new, old = head.breakdown, base.breakdown
    if new is None or old is None or not may_be_carried(head) or not _is_on_as_many(head, base):
        return head
    if _is_relaxed(head.first) or _is_relaxed(base.first):
        found = _no_less(new, old) if _needs_more_as_written(head.first, base.first) else new
        return _asked_for(head, base, found, spec_text) if found is not new else head
    if stands_for_silence(new) or stands_for_silence(old):
        return head
    found = _agreed(head, base, new, old)
    return (
        _scaled(_asked_for(head, base, found, spec_text), found.required_gib / new.required_gib)
        if found is not new
        else head
    )


def _agreed(head: Analysis, base: Analysis, new: MemoryBreakdown, old: MemoryBreakdown) -> MemoryBreakdown:
    """Return the breakdown with the agreement of before, scaled as the sum; as it is where that was of something else."""
    is_same = _is_same_statement(new.weighed, old.weighed)
    ratio = _computed(new) / max(_computed(old), 1.0)
    if abs(ratio - 1) < LEAST_CHANGE or not (is_same or _is_same_run(head, base)):
        return new
    if old.weighed is not None and (is_same or 1 / MOST_CHANGE <= ratio <= MOST_CHANGE):
        return _with_agreed(head, new, old, _over(new, old, ratio))
    return _without_statement(new) if old.weighed is None and new.weighed is not None else new


def _over(new: MemoryBreakdown, old: MemoryBreakdown, ratio: float) -> int:
    """Return what was agreed, scaled: never under what lies on the card whatever it works on, nor over the large card for its spread alone."""
    over = old.required_gib * ratio
    if old.required_gib <= LARGE_CARD_GIB:
        over = need_of(replace(new, required_gib=over))
    least = added(term.gib for term in new.terms if term.name not in _AT_WORK)
    return max(1, math.ceil(over - 0.05), min(math.ceil(least), int(_computed(new))))


def _needs_more_as_written(head: Profile | None, base: Profile | None) -> bool:
    """Whether a run needs more memory as it is written, over all the cards that this takes; where that is not known, it may."""
    if head is None or base is None:
        return False
    after, before = (need_as_said(each.findings, {}) for each in (head, base))
    if after.expected_gib is None or before.expected_gib is None:
        return _is_relaxed(head)
    return after.total_gib > before.total_gib * (1 + LEAST_CHANGE)


def _computed(breakdown: MemoryBreakdown) -> float:
    return breakdown.required_gib if breakdown.computed_gib is None else breakdown.computed_gib


def _is_relaxed(run: Profile | None) -> bool:
    return run is not None and run.is_relaxed


def _is_on_as_many(head: Analysis, base: Analysis) -> bool:
    return head.proposed.hardware.gpu_count == base.proposed.hardware.gpu_count


def _is_same_run(head: Analysis, base: Analysis) -> bool:
    """Whether the same program trains or runs the same model, and no document says anything else than it did."""
    if head.first is None or base.first is None or head.first.name != base.first.name:
        return False
    asked = ("model.id", "workload")
    if any(value_of_best(head.findings, each) != value_of_best(base.findings, each) for each in asked):
        return False
    said = [
        sorted((f.field, f.value, f.evidence.path) for f in each.findings if f.field.startswith("documented"))
        for each in (head, base)
    ]
    return said[0] == said[1]


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


def _no_less(new: MemoryBreakdown, old: MemoryBreakdown) -> MemoryBreakdown:
    """Return the breakdown with no less asked for than before the change; as it is where it asks for as much."""
    if new.required_gib >= old.required_gib:
        return new
    return _requiring(new, int(old.required_gib), f"{old.required_gib:g} GiB {STAYS}")


def _requiring(new: MemoryBreakdown, required: int, note: str) -> MemoryBreakdown:
    stale = f"{_computed(new):.3g} GiB computed"
    kept = tuple(each for each in new.notes if not each.startswith(stale) and FLOOR not in each)
    sums = (added(term.gib for term in new.terms), float(required))
    return replace(new, required_gib=float(required), low_gib=min(new.low_gib, *sums), high_gib=max(new.high_gib, *sums),
                   notes=(*kept, note))  # fmt: skip


def _asked_for(head: Analysis, base: Analysis, found: MemoryBreakdown, spec_text: str | None) -> Analysis:
    """Return the analysis with what a breakdown requires asked for; where no amount is weighed, on no smaller card than for the base."""
    least = least_again(max(head.least_gb, base.least_gb), int(found.required_gib), found.weighed)
    return needing(head, found, found.notes[-1], spec_text, least_gb=least)


def _scaled(head: Analysis, scale: float) -> Analysis:
    """Return the analysis with what its cheaper configurations ask for corrected by as much as what it asks for itself."""
    needs = (max(1, math.ceil(each.required_gib * scale - 0.05)) for each in head.alternatives)
    less = (
        replace(each, required_gib=gib, expected_gib=min(each.expected_gib, float(gib)))
        for each, gib in zip(head.alternatives, needs, strict=True)
    )
    return replace(head, alternatives=tuple(less))
