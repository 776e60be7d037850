from __future__ import annotations

from decimal import Decimal

import pytest

from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.pricing.catalogs import MAX_ROWS, CatalogError, read_catalog, read_rows

RUNPOD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
VAST = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region"
LAMBDA = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"


def info(total: float) -> str:
    return "\"{'Gpus': [{'Name': 'x'}], 'TotalGpuMemoryInMiB': %d}\"" % total  # noqa: UP031 - braces are the subject


def read(cloud: str, header: str, *rows: str) -> tuple[Offer, ...]:
    return read_catalog(cloud, "\n".join([header, *rows]) + "\n")


def test_regions_of_one_machine_at_one_price_are_one_offer() -> None:
    rows = [f"1x_A40_SECURE,A40,1.0,9.0,50.0,{region},0.35,0.35,{zone}," for region, zone in
            [("US", "US-1"), ("US", "US-2"), ("CA", "CA-1")]]  # fmt: skip
    (offer,) = read("runpod", RUNPOD, *rows)
    assert (offer.label, offer.regions, offer.vcpus, offer.memory_gib) == ("A40:1", ("US", "CA"), 9.0, 50.0)


def test_another_price_in_another_region_is_another_offer() -> None:
    found = read("vast", VAST, f'1x-A40-32-65536,A40,1,32,64.0,{info(46068)},0.40,0.00,"Oregon, US, NA"',
                 f'1x-A40-32-65536,A40,1,32,64.0,{info(46068)},0.60,0.00,"Paris, FR, EU"')  # fmt: skip
    assert [(str(offer.price_usd_per_hour), offer.regions) for offer in found] == [
        ("0.40", ("Oregon, US, NA",)),
        ("0.60", ("Paris, FR, EU",)),
    ]


def test_memory_is_the_tables_where_the_catalogs_field_means_nothing() -> None:
    # RunPod writes gigabytes as MiB, Lambda one card's memory as that of all.
    (runpod,) = read("runpod", RUNPOD, f"2x_A100-80GB_SECURE,A100-80GB,2.0,16,234,US,2.78,2.78,US-1,{info(160)}")
    (lambda_,) = read("lambda", LAMBDA, f"gpu_8x_a100,A100,8.0,124,1800,15.92,us-east-1,{info(40960)},")
    assert [offer.memory_gib_per_gpu for offer in (runpod, lambda_)] == [79.2, 39.6]


def test_vasts_memory_is_that_of_all_cards_and_tells_merged_cards_apart() -> None:
    found = read("vast", VAST, f"2x-A100_SXM4-32-65536,A100,2,32,64.0,{info(2 * 40960)},1.52,0.00,x",
                 f"1x-A100_PCIE-32-65536,A100,1,32,64.0,{info(81920)},0.87,0.00,x",
                 f"1x-H100_NVL-32-65536,H100,1,32,64.0,{info(95830)},1.87,0.00,x")  # fmt: skip
    assert [offer.memory_gib_per_gpu for offer in found] == [39.6, 79.2, 92.6]


def test_a_row_cannot_make_its_card_larger_than_it_says() -> None:
    (small,) = read("vast", VAST, f"1x-A40-32-65536,A40,1,32,64.0,{info(1024)},0.40,0.00,x")
    known = find_accelerator("A40")
    assert known is not None
    assert small.memory_gib_per_gpu < known.memory_gib


@pytest.mark.parametrize(("spot", "expected"), [("0.35", None), ("0.00", None), ("", None), ("0.40", None), ("nan", None),
                                                ("-1", None), ("0.20", Decimal("0.20"))])  # fmt: skip
def test_a_spot_price_is_one_only_between_nothing_and_the_price(spot: str, expected: Decimal | None) -> None:
    (offer,) = read("runpod", RUNPOD, f"1x_A40_SECURE,A40,1,9,50,US,{spot},0.35,US-1,")
    assert offer.spot_price_usd_per_hour == expected


@pytest.mark.parametrize(
    "row",
    [
        "1x_A40,A40,1,9,50,US,,,US-1,",
        "1x_A40,A40,1,9,50,US,0,0.00,US-1,",
        "1x_A40,A40,1,9,50,US,0,-1,US-1,",
        "1x_A40,A40,1,9,50,US,0,NaN,US-1,",
        "1x_A40,A40,1,9,50,US,0,Infinity,US-1,",
        "1x_A40,A40,1,9,50,US,0,1e9,US-1,",
        "1x_A40,A40,0.25,9,50,US,0,0.1,US-1,",
        "1x_A40,A40,1000,9,50,US,0,0.1,US-1,",
        "1x_A40,A40,one,9,50,US,0,0.1,US-1,",
        "1x_A40,,1,9,50,US,0,0.1,US-1,",
        "1x_A40,A40,,9,50,US,0,0.1,US-1,",
        "1x_A40,A40\u202e,1,9,50,US,0,0.1,US-1,",
        f"{'x' * 81},A40,1,9,50,US,0,0.1,US-1,",
        "short",
    ],
)
def test_a_row_without_whole_cards_at_a_price_is_no_offer(row: str) -> None:
    good = "1x_L4_SECURE,L4,1.0,12.0,50.0,US,0.39,0.39,US-1,"
    assert [offer.accelerator for offer in read("runpod", RUNPOD, row, good)] == ["L4"]


def test_prices_are_taken_to_the_last_digit() -> None:
    (offer,) = read("nebius", LAMBDA, f"gpu-l40s-a,L40S,1,8,32,1.5484,eu-north1,{info(49152)},")
    assert offer.price_usd_per_hour == Decimal("1.5484")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "lacks the column InstanceType"),
        ("<html>not found</html>", "lacks the column"),
        (RUNPOD.replace(",Price", "") + "\n", "lacks the column Price"),
        (RUNPOD + "\n", "no machine with a GPU"),
        (f"{RUNPOD}\n" + "cpu,,,4,8,US,,0.1,,\n" * 3, "no machine with a GPU"),
    ],
)
def test_what_is_no_catalog_says_why(text: str, what: str) -> None:
    with pytest.raises(CatalogError, match=what):
        read_catalog("runpod", text)


def test_a_field_of_a_megabyte_is_no_table() -> None:
    with pytest.raises(CatalogError, match="no table"):
        read_catalog("runpod", f"{RUNPOD}\n{'x' * 1_000_000},A40,1,9,50,US,0,0.1,US-1,\n")


def test_rows_are_bounded() -> None:
    with pytest.raises(CatalogError, match="rows"):
        read_rows("runpod", f"{RUNPOD}\n" + "a,,,,,,,,,\n" * (MAX_ROWS + 1))
