from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.card_sizes import asking_for
from gpu_lol_action.domain.gpus import UnknownAccelerator, accelerators
from gpu_lol_action.domain.offer import Lack, Ladder, Offer, OfferTable, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, Software, WorkloadType
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers

IMAGE = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
BOTH = ("runpod", "lambda")


def ladder(requirement: Requirement, offers: OfferTable | None = None, cap: str | None = None) -> Ladder:
    table = bundled_offers() if offers is None else offers
    return rank_candidates(RankRequest(requirement, table, SNAPSHOT, timedelta(hours=2), Decimal(cap) if cap else None))


def need(gib: float, count: int = 1, **more: object) -> Requirement:
    return replace(Requirement(gib, count, clouds=BOTH, base_image=IMAGE), **more)  # type: ignore[arg-type]  # test data


def reason(found: Ladder, cloud: str, label: str) -> str:
    return next(item.reason for item in found.rejected if (item.offer.cloud, item.offer.label) == (cloud, label))


def test_cheapest_first_with_what_the_lease_costs() -> None:
    found = ladder(need(22))
    assert found.best is not None
    assert found.best.offer.label == "RTXA5000:1"
    assert found.best.lease_usd == Decimal("0.54")
    prices = [candidate.price_usd_per_hour for candidate in found.candidates]
    assert prices == sorted(prices)
    assert found.best.why == "23.7 GiB usable, 22 needed"


def test_every_offer_of_the_clouds_is_a_candidate_or_has_a_reason() -> None:
    found = ladder(need(40, 2))
    assert len(found.candidates) + len(found.rejected) == sum(len(bundled_offers()[cloud]) for cloud in BOTH)
    assert all(item.reason for item in found.rejected)
    assert {c.offer.cloud for c in found.candidates} <= set(BOTH)


def test_rejections_name_what_is_wrong() -> None:
    found = ladder(need(40), cap="1.00")
    assert reason(found, "runpod", "RTX4090:1") == "23.7 GiB usable, 40 needed"
    assert reason(found, "runpod", "A40:2") == "1 card is enough"
    assert reason(found, "runpod", "A100-80GB:1") == "$1.39/h is over the limit of $1.00/h"
    assert reason(found, "runpod", "MI300X:1").startswith("no NVIDIA card")
    assert "cannot launch" in reason(found, "runpod", "B300:1")
    assert "torch 2.7" in reason(found, "runpod", "RTX5090:1")
    assert "ARM" in reason(found, "lambda", "GH200:1")
    assert "Turing" in reason(found, "lambda", "RTX6000:1")
    assert "of 8 cards" in reason(ladder(need(40, 8)), "runpod", "A40:4")


def test_a_named_card_is_found_under_each_clouds_name() -> None:
    found = ladder(need(40, accelerator="A6000"))
    assert [(c.offer.cloud, c.offer.accelerator) for c in found.candidates] == [
        ("runpod", "RTXA6000"),
        ("lambda", "A6000"),
    ]


@pytest.mark.parametrize(("asked", "fits"), [(24, True), (22, True), (25, False)])
def test_a_spec_counts_in_sizes_as_cards_are_sold(asked: int, fits: bool) -> None:
    wanted = requirement_from(EnvironmentSpec(Hardware("RTX4090", 1, asked)), Policy())
    assert isinstance(wanted, Requirement)
    assert (ladder(replace(wanted, base_image=IMAGE)).best is not None) is fits


def test_what_was_computed_chooses_among_cards_of_one_size() -> None:
    hardware = asking_for(Hardware(), 46)
    assert (hardware.vram_required_gb, hardware.needed_gib) == (48, 46)
    wanted = requirement_from(EnvironmentSpec(hardware), Policy())
    assert isinstance(wanted, Requirement)
    found = ladder(replace(wanted, base_image=IMAGE))
    assert reason(found, "runpod", "A40:1") == "45.0 GiB usable, 46 needed"
    assert found.best is not None
    assert (found.best.offer.label, found.best.why) == ("RTXA6000:1", "47.5 GiB usable, 46 needed")
    stated = requirement_from(EnvironmentSpec(Hardware(vram_required_gb=48)), Policy())
    assert isinstance(stated, Requirement)
    said = ladder(replace(stated, base_image=IMAGE))
    assert said.best is not None
    assert (said.best.offer.label, said.best.why) == ("A40:1", "45.0 GiB usable, 48 GB asked for")
    assert reason(said, "runpod", "RTXA5000:1") == "24 GB, 48 needed"


def test_of_cards_that_a_cloud_merges_the_offers_own_size_counts() -> None:
    merged = replace(bundled_offers()["vast"][0], accelerator="A100", memory_gib_per_gpu=79.2)
    small = replace(merged, memory_gib_per_gpu=39.6)
    wanted = need(80, clouds=("vast",), is_memory_as_sold=True)
    assert ladder(wanted, {"vast": (merged,)}).best is not None
    assert ladder(wanted, {"vast": (small,)}).best is None


def test_alternatives_are_taken_too() -> None:
    found = ladder(need(22, accelerator="RTX4090", alternatives=("A40",)))
    assert {c.offer.accelerator for c in found.candidates} == {"RTX4090", "A40"}


def test_an_old_card_is_taken_only_when_named() -> None:
    assert ladder(need(15, 8, accelerator="V100")).best is not None
    assert all(c.offer.accelerator != "V100" for c in ladder(need(15, 8)).candidates)


def test_a_larger_count_is_taken_where_the_exact_one_is_not_rented() -> None:
    found = ladder(need(70, 3, clouds=("lambda",)))
    assert found.best is not None
    assert found.best.offer.label == "H100:4"
    assert "fewest it is rented with" in found.best.why


def test_spot_prices_that_mean_nothing_are_not_believed() -> None:
    assert all(
        o.spot_price_usd_per_hour is None for cloud in ("runpod", "vast", "lambda") for o in bundled_offers()[cloud]
    )
    offer = replace(bundled_offers()["vast"][0], spot_price_usd_per_hour=Decimal("0.00"))
    found = ladder(need(20, clouds=("vast",), use_spot=True), {"vast": (offer,)})
    assert found.best is not None
    assert found.best.price_usd_per_hour == offer.price_usd_per_hour
    assert "no spot price" in found.best.why
    assert "no spot machines" in reason(ladder(need(20, use_spot=True)), "lambda", "A10:1")


def test_region_counts_only_where_the_catalog_says_where() -> None:
    here = replace(bundled_offers()["runpod"][0], regions=("US", "CA"))
    assert ladder(need(20, clouds=("runpod",), region="CA"), {"runpod": (here,)}).best is not None
    assert ladder(need(20, clouds=("runpod",), region="RO"), {"runpod": (here,)}).best is None
    assert ladder(need(20, region="RO")).best is not None


def test_more_cards_are_taken_where_fewer_lack_something_else() -> None:
    found = ladder(need(12, 2, cpus=60))
    assert found.best is not None
    assert (found.best.offer.label, found.best.offer.vcpus) == ("RTX4000-Ada:8", 64.0)
    assert reason(ladder(need(12, 2)), "runpod", "RTX4000-Ada:8") == "2 cards are enough"


def test_more_cards_are_kept_where_they_cost_less() -> None:
    one = bundled_offers()["runpod"][0]
    two = replace(one, accelerator_count=2, instance_type="2x", price_usd_per_hour=one.price_usd_per_hour / 2)
    found = ladder(need(20, clouds=("runpod",)), {"runpod": (one, two)})
    assert [c.offer.accelerator_count for c in found.candidates] == [2, 1]


def test_a_machine_without_a_spot_price_is_no_spot_machine_where_others_have_one() -> None:
    found = ladder(need(40, 2, clouds=("nebius",), use_spot=True))
    assert "on demand only" in reason(found, "nebius", "L40S:2")
    assert found.best is not None
    assert found.best.price_usd_per_hour < found.best.offer.price_usd_per_hour


def test_what_the_code_computes_in_counts_for_the_card() -> None:
    assert "no fp8" in reason(ladder(need(20, precision="fp8")), "runpod", "RTXA5000:1")
    assert all(c.offer.accelerator not in {"A40", "RTXA6000"} for c in ladder(need(20, precision="fp8")).candidates)
    named = ladder(need(15, 8, accelerator="V100", precision="bf16-mixed"))
    assert named.best is not None
    assert "Volta has no bf16, in which the code computes" in named.best.why


@pytest.mark.parametrize(
    ("image", "is_taken"),
    [
        ("pytorch/pytorch:1.6.0-cuda10.1-cudnn7-devel", True),  # no newer card runs it
        ("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", False),
        ("acme/unknown:1", False),
        (None, False),
    ],
)
def test_an_older_card_is_taken_unnamed_for_an_image_of_its_day(image: str | None, is_taken: bool) -> None:
    found = ladder(need(12, base_image=image))
    taken = {candidate.offer.accelerator for candidate in found.candidates}
    assert ("V100" in taken) is is_taken


def test_clouds_without_images_and_with_a_disk_of_their_own_are_told_apart() -> None:
    assert "no container images" in reason(ladder(need(40, clouds=("verda",))), "verda", "A100-80GB:1")
    assert ladder(need(70, clouds=("verda",), base_image=None)).best is not None
    lambda_ = ladder(need(20, clouds=("lambda",), min_disk_gb=800)).best
    assert lambda_ is not None
    assert "800 GB cannot be asked for" in lambda_.why


def test_the_nearest_is_what_lacks_least() -> None:
    too_dear = ladder(need(40), cap="0.10").nearest
    assert too_dear is not None
    assert (too_dear.offer.label, too_dear.kind) == ("A40:1", Lack.PRICE)
    too_small = ladder(need(200, 2, base_image=None)).nearest
    assert too_small is not None
    assert (too_small.offer.label, too_small.kind) == ("B200:2", Lack.MEMORY)
    assert ladder(need(20, 32)).nearest is None
    assert ladder(need(20, accelerator="B300")).nearest is None


def test_speeds_are_of_the_cards_that_are_asked_for() -> None:
    found = ladder(need(70, 3, clouds=("lambda",)))
    assert found.best is not None
    assert (found.best.offer.accelerator_count, found.best.relative_speed) == (4, 1.0)
    assert found.compared_by == "dense bf16 peak"


def test_the_cheapest_per_unit_of_work_is_within_the_limit() -> None:
    found = ladder(need(22))
    value, within = found.best_value(), found.best_value(Decimal("0.60"))
    assert value is not None
    assert within is not None
    assert within.price_usd_per_hour <= Decimal("0.60")
    per_work = [c.price_usd_per_hour / Decimal(str(c.relative_speed)) for c in found.candidates if c.relative_speed]
    assert value.price_usd_per_hour / Decimal(str(value.relative_speed)) == min(per_work)
    assert ladder(need(900)).best_value() is None


def test_without_a_published_speed_nothing_is_compared() -> None:
    found = ladder(
        need(20, clouds=("runpod",), base_image=None),
        {"runpod": tuple(o for o in bundled_offers()["runpod"] if o.accelerator == "RTXPRO4500")},
    )
    assert found.best is not None
    assert found.best.relative_speed is None
    assert found.best_value() is None


def test_ties_and_order_of_offers_do_not_matter() -> None:
    table = {cloud: list(offers) for cloud, offers in bundled_offers().items()}
    first = ladder(need(22))
    order = random.Random(7)  # noqa: S311 - the same disorder in every run
    for _ in range(5):
        for offers in table.values():
            order.shuffle(offers)
        shuffled = ladder(need(22), {cloud: tuple(offers) for cloud, offers in table.items()})
        assert (shuffled.candidates, shuffled.rejected) == (first.candidates, first.rejected)


def test_no_gpu_asked_for_gives_an_empty_ladder() -> None:
    found = ladder(need(0, 0))
    assert (found.candidates, found.rejected) == ((), ())


def test_requirement_follows_spec_then_command() -> None:
    spec = EnvironmentSpec(Hardware("A40", 2, 40, disk_gb=80, cpus=8), Software(IMAGE))
    plain = requirement_from(spec, Policy())
    assert plain == Requirement(40.0, 2, "A40", BOTH, min_disk_gb=80, cpus=8, base_image=IMAGE, is_memory_as_sold=True)
    asked = requirement_from(
        spec, Policy(), Command("up", "", gpu="h100:4", cloud="lambda", image="x/y:z", use_spot=True)
    )
    assert asked == Requirement(
        0.0, 4, "H100", ("lambda",), use_spot=True, min_disk_gb=80, cpus=8, base_image="x/y:z", is_memory_as_sold=True
    )
    assert isinstance(requirement_from(spec, Policy(), Command("up", "", gpu="H1000")), UnknownAccelerator)
    assert requirement_from(EnvironmentSpec(meta=Meta(workload_type=WorkloadType.CPU_ONLY)), Policy()).gpu_count == 0  # type: ignore[union-attr]  # a spec alone is never unknown


@pytest.mark.parametrize("cloud", ["runpod", "lambda", "vast"])
def test_every_offer_of_the_snapshot_is_whole(cloud: str) -> None:
    offers: tuple[Offer, ...] = bundled_offers()[cloud]
    assert offers
    for offer in offers:
        assert offer.price_usd_per_hour > 0
        assert offer.accelerator in accelerators()
        assert 1 < offer.memory_gib_per_gpu < 300
