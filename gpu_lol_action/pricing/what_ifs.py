"""Which other configurations really move a run to a cheaper offer, the largest saving first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.card_sizes import asking_for, roomier_gb
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.offer import Candidate, Ladder, OfferTable, PriceSource
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.domain.what_if import Alternative, Lever, WhatIf
from gpu_lol_action.estimation.levers import HARMLESS
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from

LEAST_SHARE, LEAST_USD = Decimal("0.05"), Decimal("0.03")
"""Of the price, and per hour: less than that is no reason to touch a configuration, and less than lists are off."""

_ORDER = {lever: place for place, lever in enumerate(Lever)}


def select_what_ifs(
    alternatives: Iterable[Alternative], spec: EnvironmentSpec, policy: Policy, now: Ladder, offers: OfferTable
) -> tuple[WhatIf, ...]:
    """Return what costs less by the hour than the best of ``now``; all that fit where nothing does now.

    Two levers are named only where they save more than each of them alone. Sorted by saving, then by what it costs.
    """
    found: list[WhatIf] = []
    cheaper = offers if now.best is None else _below(now.best, offers)
    for alternative in alternatives:
        best = _best(alternative, spec, policy, now.source, cheaper)
        saving = _saving(now.best, best)
        if best is None or (saving is None and now.best is not None):
            continue
        if any(_covers(other, alternative, best) for other in found):
            continue
        found.append(WhatIf(alternative, best, saving))
    return tuple(sorted(found, key=_rank))


def _below(best: Candidate, offers: OfferTable) -> OfferTable:
    """Return the offers that cost less, on demand or as spot: of the others none would save anything."""
    most = best.price_usd_per_hour
    return {
        cloud: tuple(
            each for each in listed if each.price_usd_per_hour < most or (each.spot_price_usd_per_hour or most) < most
        )
        for cloud, listed in offers.items()
    }


def _best(
    alternative: Alternative, spec: EnvironmentSpec, policy: Policy, source: PriceSource, offers: OfferTable
) -> Candidate | None:
    anew = replace(spec.hardware, gpu_type=None, alternatives=(), gpu_count=alternative.gpu_count)
    # As the same run would be asked for once it is written so.
    hardware = asking_for(anew, alternative.required_gib, roomier_gb(alternative.required_gib))
    requirement = requirement_from(replace(spec, hardware=hardware), policy)
    if isinstance(requirement, UnknownAccelerator):  # no card is named, so this is for the type checker
        return None
    return rank_candidates(RankRequest(requirement, offers, source, timedelta(hours=1))).best


def _saving(now: Candidate | None, then: Candidate | None) -> Decimal | None:
    """Return the dollars per hour that are saved; None where nothing is, or nothing can be compared with."""
    if now is None or then is None:
        return None
    saving = now.price_usd_per_hour - then.price_usd_per_hour
    return saving if saving >= max(now.price_usd_per_hour * LEAST_SHARE, LEAST_USD) else None


def _covers(known: WhatIf, alternative: Alternative, best: Candidate) -> bool:
    """Whether what is already named does as well with fewer levers."""
    fewer = set(known.alternative.levers) < set(alternative.levers)
    return fewer and known.candidate.price_usd_per_hour <= best.price_usd_per_hour


def _rank(each: WhatIf) -> tuple[Decimal, int, bool, bool, tuple[int, ...]]:
    """Order by saving; then one lever before two, what leaves the result as it is, what is one literal to write."""
    levers = each.alternative.levers
    saving = -each.saves_usd_per_hour if each.saves_usd_per_hour is not None else each.candidate.price_usd_per_hour
    return (
        saving,
        len(levers),
        not set(levers) <= HARMLESS,
        each.alternative.edit is None,
        tuple(_ORDER[lever] for lever in levers),
    )
