"""Which line of a pull request made the difference: the finding behind the memory term that moved most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Finding

# Where no memory term cites a finding, these speak for a need before others do.
_FIELD_WEIGHTS = ("training.", "model.", "hardware.", "inference.", "meta.workload")


@dataclass(frozen=True, slots=True)
class Cause:
    """A finding that differs from the base's; ``old_value`` is None where the base has no such finding."""

    finding: Finding
    old_value: str | None


def select_cause(base: Analysis, head: Analysis) -> Cause | None:
    """Return the changed finding that explains the new need best, or None where no finding changed."""
    before = _strongest_by_field(base)
    changed = [
        Cause(finding, before[field].value if field in before else None)
        for field, finding in _strongest_by_field(head).items()
        if field not in before or before[field].value != finding.value
    ]
    if not changed:
        return None
    moved = _moved_gib(base, head)
    return max(
        changed,
        key=lambda cause: (
            moved.get(str(cause.finding.evidence), 0.0),
            _field_weight(cause.finding.field),
            cause.finding.confidence,
            cause.finding.field,
        ),
    )


def _strongest_by_field(analysis: Analysis) -> dict[str, Finding]:
    strongest: dict[str, Finding] = {}
    for finding in analysis.findings:
        known = strongest.get(finding.field)
        if known is None or finding.confidence > known.confidence:
            strongest[finding.field] = finding
    return strongest


def _moved_gib(base: Analysis, head: Analysis) -> Mapping[str, float]:
    """Return per cited place by how much its memory terms changed, in GiB."""
    before = {term.name: term.gib for term in base.breakdown.terms} if base.breakdown else {}
    moved: dict[str, float] = {}
    for term in head.breakdown.terms if head.breakdown else ():
        if term.evidence is not None:
            place = str(term.evidence)
            moved[place] = moved.get(place, 0.0) + abs(term.gib - before.get(term.name, 0.0))
    return moved


def _field_weight(field: str) -> int:
    for weight, prefix in enumerate(_FIELD_WEIGHTS):
        if field.startswith(prefix):
            return len(_FIELD_WEIGHTS) - weight
    return 0
