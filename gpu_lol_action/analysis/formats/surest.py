"""Of several findings on one field, the one to go by."""

from __future__ import annotations

from gpu_lol_action.domain.finding import Finding


def best(findings: tuple[Finding, ...], field: str) -> Finding | None:
    """Return the surest finding of a field; the first among equals."""
    found = [finding for finding in findings if finding.field == field]
    return max(found, key=lambda finding: finding.confidence, default=None)


def value_of_best(findings: tuple[Finding, ...], field: str) -> str | None:
    """Return the value of the surest finding of a field, or None."""
    found = best(findings, field)
    return found.value if found else None
