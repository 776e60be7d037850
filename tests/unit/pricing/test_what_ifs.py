from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpu_lol_action.domain.offer import Ladder, Offer, OfferTable
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, WorkloadType
from gpu_lol_action.domain.what_if import Alternative, Lever
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.snapshot import SNAPSHOT
from gpu_lol_action.pricing.spot import cheaper_spot
from gpu_lol_action.pricing.what_ifs import select_what_ifs

POLICY = Policy(clouds=("runpod", "aws"))


def offer(card: str, price: str, gib: float, count: int = 1, spot: str | None = None, cloud: str = "runpod") -> Offer:
    return Offer(
        cloud, card, count, f"{count}x_{card}", Decimal(price), Decimal(spot) if spot else None, gib, 16, 100.0
    )


OFFERS: OfferTable = {
    "runpod": (
        offer("A40", "0.44", 45.0),
        offer("A40", "0.88", 45.0, 2),
        offer("A100-80GB", "1.39", 79.2),
        offer("RTXA5000", "0.27", 23.6),
    ),
    "aws": (),
}
SPEC = EnvironmentSpec(
    Hardware(gpu_type="A100-80GB", gpu_count=1, vram_required_gb=60), meta=Meta(workload_type=WorkloadType.TRAINING)
)


def ladder(spec: EnvironmentSpec, offers: OfferTable = OFFERS) -> Ladder:
    requirement = requirement_from(spec, POLICY)
    assert not hasattr(requirement, "did_you_mean")
    return rank_candidates(RankRequest(requirement, offers, SNAPSHOT, timedelta(hours=1)))  # type: ignore[arg-type]  # asserted above


def alternative(*levers: Lever, required: int, count: int = 1) -> Alternative:
    return Alternative(levers, " and ".join(each.value for each in levers), "", "", float(required), required, count)


def test_only_what_moves_to_a_cheaper_offer_is_named_the_largest_saving_first() -> None:
    given = (
        alternative(Lever.HALF_BATCH, required=55),
        alternative(Lever.CHECKPOINTING, required=40),
        alternative(Lever.QLORA, required=20),
        alternative(Lever.SHARDING, required=40, count=2),
    )
    found = select_what_ifs(given, SPEC, POLICY, ladder(SPEC), OFFERS)
    assert [(each.alternative.levers[0], each.candidate.offer.label, each.saves_usd_per_hour) for each in found] == [
        (Lever.QLORA, "RTXA5000:1", Decimal("1.12")),
        (Lever.CHECKPOINTING, "A40:1", Decimal("0.95")),
        (Lever.SHARDING, "A40:2", Decimal("0.51")),
    ]


def test_of_equal_savings_what_costs_no_quality_comes_first() -> None:
    given = (alternative(Lever.LORA, required=40), alternative(Lever.HALF_BATCH, required=40))
    found = select_what_ifs(given, SPEC, POLICY, ladder(SPEC), OFFERS)
    assert [each.alternative.levers[0] for each in found] == [Lever.HALF_BATCH, Lever.LORA]


def test_two_levers_are_named_only_where_they_save_more_than_one() -> None:
    both = (Lever.HALF_BATCH, Lever.CHECKPOINTING)
    given = (alternative(Lever.CHECKPOINTING, required=40), alternative(*both, required=38))
    found = select_what_ifs(given, SPEC, POLICY, ladder(SPEC), OFFERS)
    assert [each.alternative.levers for each in found] == [(Lever.CHECKPOINTING,)]
    more = (given[0], alternative(*both, required=20))
    found = select_what_ifs(more, SPEC, POLICY, ladder(SPEC), OFFERS)
    assert [each.alternative.levers for each in found] == [both, (Lever.CHECKPOINTING,)]


def test_where_nothing_fits_all_that_does_is_named_the_cheapest_first() -> None:
    spec = replace(SPEC, hardware=replace(SPEC.hardware, gpu_type=None, vram_required_gb=200))
    given = (
        alternative(Lever.CHECKPOINTING, required=70),
        alternative(Lever.QLORA, required=40),
        alternative(Lever.HALF_BATCH, required=120),
    )
    found = select_what_ifs(given, spec, POLICY, ladder(spec), OFFERS)
    assert [(each.alternative.levers[0], each.saves_usd_per_hour) for each in found] == [
        (Lever.QLORA, None), (Lever.CHECKPOINTING, None)]  # fmt: skip


def test_a_saving_that_lists_are_off_by_is_none() -> None:
    offers = {"runpod": (offer("A100-80GB", "1.39", 79.2), offer("A100-80GB-SXM", "1.38", 70.0)), "aws": ()}
    given = (alternative(Lever.HALF_BATCH, required=55),)
    spec = replace(SPEC, hardware=replace(SPEC.hardware, vram_required_gb=75))
    assert select_what_ifs(given, spec, POLICY, ladder(spec, offers), offers) == ()


def test_spot_is_named_where_its_own_price_is_a_fifth_less() -> None:
    spec = replace(SPEC, hardware=replace(SPEC.hardware, gpu_type=None))
    asked = replace(spec, hardware=replace(spec.hardware, use_spot=True))

    def best(spot: str | None) -> object:
        offers = {"runpod": OFFERS["runpod"], "aws": (offer("A100-80GB", "2.00", 79.2, spot=spot, cloud="aws"),)}
        found = cheaper_spot(ladder(spec, offers), ladder(asked, offers))
        return found.price_usd_per_hour if found else None

    assert best("0.90") == Decimal("0.90")
    assert best("1.30") is None
    assert best("0.00") is None
    assert best(None) is None
    assert cheaper_spot(ladder(spec), None) is None


def test_a_promise_is_the_card_that_the_run_would_be_asked_for() -> None:
    # 19 GiB fill a card of 20 GB, which is rented for less than one of 24: a run of that need is asked for the larger one.
    cheap: OfferTable = {"runpod": (*OFFERS["runpod"], offer("RTXA4500", "0.25", 19.8)), "aws": ()}
    given = (alternative(Lever.CHECKPOINTING, required=19), alternative(Lever.HALF_BATCH, required=17))
    found = select_what_ifs(given, SPEC, POLICY, ladder(SPEC, cheap), cheap)
    assert {each.alternative.required_gib: each.candidate.offer.label for each in found} == {
        19: "RTXA5000:1",
        17: "RTXA4500:1",
    }
