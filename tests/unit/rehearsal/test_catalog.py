from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.rehearsal import catalog

TABLE = Path(catalog.__file__).parent.parent / "data" / "gpu_prices.csv"


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_bill_and_catalog_have_the_price_of_the_table(tmp_path):
    folder = catalog.write_catalog(tmp_path)
    ours = {r["instance_type"]: Decimal(r["price_usd_per_hour"]) for r in rows(TABLE) if r["cloud"] == "runpod"}
    listed = rows(folder / "runpod" / "vms.csv")
    assert {r["InstanceType"]: Decimal(r["Price"]) for r in listed} == ours
    billed = {
        gpu.instance_types[count]: gpu.price_usd_per_hour(count)
        for gpu in catalog.rented_gpus().values()
        for count in gpu.instance_types
    }
    assert billed == ours


def test_every_instance_is_in_every_region(tmp_path):
    listed = rows(catalog.write_catalog(tmp_path) / "runpod" / "vms.csv")
    regions = {region for region, _ in catalog.REGIONS}
    by_type = {}
    for row in listed:
        by_type.setdefault(row["InstanceType"], set()).add(row["Region"])
    assert all(found == regions for found in by_type.values())


def test_count_without_a_row_costs_that_many_times_one():
    gpu = catalog.rented_gpus()["NVIDIA A40"]
    assert 3 not in gpu.prices_usd_per_hour
    assert gpu.price_usd_per_hour(3) == gpu.prices_usd_per_hour[1] * 3


def test_names_of_other_clouds_are_listed(tmp_path):
    listed = {
        r["AcceleratorName"]: r["Clouds"] for r in rows(catalog.write_catalog(tmp_path) / "common" / "accelerators.csv")
    }
    assert "RunPod" not in listed["A6000"]
    assert "RunPod" in listed["RTXA6000"]


def test_no_checksum_stands_beside_the_catalog(tmp_path):
    catalog.write_catalog(tmp_path)
    assert not list(tmp_path.rglob("*.md5"))  # with one, SkyPilot would fetch newer files over these
