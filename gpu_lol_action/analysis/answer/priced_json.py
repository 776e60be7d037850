"""What stands beside an analysis in its JSON: the cheapest offer, what would be cheaper, and the difference to a base.

Dollars are text with all their places: a float would round them.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.offer import Candidate, Ladder, PriceSource
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.what_if import WhatIf

if TYPE_CHECKING:
    from gpu_lol_action.domain.change import Cause, PartChange, RunChange
    from gpu_lol_action.domain.priced_change import PricedChange


@record(frozen=True, slots=True)
class Against:
    """The base that was compared with; ``change`` and ``ladder`` are None where ``problem`` says why it could not be."""

    base_sha: str
    ladder: Ladder | None = None
    change: PricedChange | None = None
    problem: str = ""


@record(frozen=True, slots=True)
class Priced:
    """What an analysis costs; ``against`` is None where no base was asked for."""

    ladder: Ladder
    what_ifs: tuple[WhatIf, ...] = ()
    against: Against | None = None


def priced_json(priced: Priced | None) -> dict[str, Any]:
    """Return the keys beside the analysis: null and empty where nothing was priced."""
    if priced is None:
        return {"offer": None, "prices": None, "what_ifs": [], "change": None}
    return {
        "offer": _offer(priced.ladder.best),
        "prices": _source(priced.ladder.source),
        "what_ifs": [_what_if(each) for each in priced.what_ifs],
        "change": _against(priced.against, priced.ladder) if priced.against is not None else None,
    }


def place_json(evidence: Evidence | None) -> dict[str, Any]:
    """Return path and line; None for a whole file's line, and for what stands in no file."""
    if evidence is None or not evidence.path:
        return {"path": None, "line": None}
    return {"path": evidence.path, "line": evidence.line or None}


def _usd(amount: Decimal | None) -> str | None:
    """Return an amount as text; None where it is not known: nothing is rented for nothing."""
    return None if amount is None or amount <= 0 else format(amount, "f")


def _offer(candidate: Candidate | None) -> dict[str, Any] | None:
    if candidate is None:
        return None
    return {
        "accelerator": candidate.offer.accelerator,
        "count": candidate.offer.accelerator_count,
        "cloud": candidate.offer.cloud,
        "usd_per_hour": _usd(candidate.price_usd_per_hour),
    }


def _source(source: PriceSource) -> dict[str, Any]:
    return {"source": source.name, "as_of": source.as_of.isoformat()}


def _what_if(each: WhatIf) -> dict[str, Any]:
    alternative = each.alternative
    return {
        "change": alternative.words,
        "setting": alternative.setting,
        "costs": alternative.costs,
        "expected_gib": round(alternative.expected_gib, 2),
        "required_gib": alternative.required_gib,
        **(_offer(each.candidate) or {}),
        "saves_usd_per_hour": _usd(each.saves_usd_per_hour),
        **place_json(alternative.evidence),
        "new_line": alternative.edit.new if alternative.edit is not None else None,
    }


def _against(against: Against, head: Ladder) -> dict[str, Any]:
    priced = against.change
    change = priced.change if priced is not None else None
    return {
        "base": against.base_sha,
        "problem": against.problem or None,
        "offer_before": _offer(against.ladder.best) if against.ladder is not None else None,
        "is_other_run": change is not None and change.is_other_run,
        "runs": list(_runs(priced, against.ladder, head)) if priced is not None else [],
        "parts": [_part(each) for each in change.parts] if change is not None else [],
        "file_causes": [_cause(each) for each in change.file_causes] if change is not None else [],
    }


def _runs(priced: PricedChange, base: Ladder | None, head: Ladder) -> Iterator[dict[str, Any]]:
    first = priced.change.first
    if first is not None:
        yield {"is_first": True, **_run(first, base.best if base is not None else None, head.best)}
    for each in priced.others:
        yield {"is_first": False, **_run(each.change, each.before, each.after)}


def _run(run: RunChange, before: Candidate | None, after: Candidate | None) -> dict[str, Any]:
    return {
        "kind": run.kind.value,
        "name": run.name,
        "command": run.command,
        **place_json(run.evidence),
        "gpu_count_before": run.before.gpu_count,
        "gpu_count_after": run.after.gpu_count,
        "required_gib_before": run.before.required_gib,
        "required_gib_after": run.after.required_gib,
        "expected_gib_before": _rounded(run.before.expected_gib),
        "expected_gib_after": _rounded(run.after.expected_gib),
        "usd_per_hour_before": _price(run.before.gpu_count, before),
        "usd_per_hour_after": _price(run.after.gpu_count, after),
        "causes": [_cause(each) for each in run.causes],
    }


def _price(gpu_count: int, candidate: Candidate | None) -> str | None:
    return _usd(candidate.price_usd_per_hour) if gpu_count and candidate is not None else None


def _rounded(gib: float | None) -> float | None:
    return round(gib, 2) if gib is not None else None


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "name": cause.name,
        "field": cause.finding.field,
        "old": cause.old_value,
        "new": cause.new_value,
        "why": cause.finding.why,
        "effect_gib": _rounded(cause.effect_gib),
        "is_at_base": cause.new_value is None,
        **place_json(cause.evidence),
    }


def _part(part: PartChange) -> dict[str, Any]:
    return {"what": part.what, "name": part.name, "old": part.old, "new": part.new, **place_json(part.evidence)}
