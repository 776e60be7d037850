"""The card of a proposal: the cheapest that fits by the committed snapshot, so that same checkout gives same bytes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.offer import OfferTable
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers

# So many other cards are named beside the cheapest, because the cheapest is often sold out.
MAX_ALTERNATIVES = 3


def with_cheapest_card(analysis: Analysis, offers: OfferTable | None = None) -> Analysis:
    """Return the analysis with a card where neither file nor code names one; over the default policy's clouds."""
    table = offers if offers is not None else bundled_offers()
    proposed = _chosen(analysis.proposed, table)
    is_same = analysis.spec is analysis.proposed  # nothing but the code speaks: the offers need not be ranked twice
    return replace(analysis, spec=proposed if is_same else _chosen(analysis.spec, table), proposed=proposed)


def _chosen(spec: EnvironmentSpec, offers: OfferTable) -> EnvironmentSpec:
    profiles = {name: _chosen(profile, offers) for name, profile in spec.profiles.items()}
    if not spec.needs_gpu or spec.hardware.gpu_type is not None:
        return replace(spec, profiles=profiles)
    requirement = requirement_from(spec, Policy())
    if isinstance(requirement, UnknownAccelerator):  # names come from the table, so this is for the type checker
        return spec
    ladder = rank_candidates(RankRequest(requirement, offers, SNAPSHOT, timedelta(hours=1)))
    names = tuple(dict.fromkeys(candidate.offer.accelerator for candidate in ladder.candidates))
    if not names:
        return replace(spec, profiles=profiles)
    alternatives = spec.hardware.alternatives or names[1 : 1 + MAX_ALTERNATIVES]
    hardware = replace(spec.hardware, gpu_type=names[0], alternatives=alternatives)
    return replace(spec, hardware=hardware, profiles=profiles)
