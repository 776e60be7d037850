"""Prices and names of the loopback cloud, from the product's own tables; and SkyPilot's catalog files made of the same rows.

One table behind the proposal, SkyPilot's optimizer and the bill: what was promised is what is charged.
"""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

_DATA = Path(__file__).parent.parent / "data"
CATALOG_VERSION = "v8"
"""SkyPilot 0.14.1's catalog schema (sky/skylet/constants.py)."""

# Three of RunPod's countries, so that SkyPilot's own failover between regions is played too, but quickly.
REGIONS: tuple[tuple[str, str], ...] = (("US", "US-CA-1"), ("CA", "CA-MTL-1"), ("RO", "EU-RO-1"))

# RunPod's id differs from what nvidia-smi prints for these.
_RUNPOD_IDS = {"MI300X": "AMD Instinct MI300X OAM"}


@dataclass(frozen=True, slots=True)
class RentedGpu:
    """A GPU that the loopback cloud rents. ``accelerator`` is SkyPilot's name; prices are per instance, by count."""

    accelerator: str
    gpu_type_id: str
    memory_gb: int
    memory_mib: int
    compute_capability: str
    vcpus: float
    host_memory_gib: float
    prices_usd_per_hour: Mapping[int, Decimal]
    instance_types: Mapping[int, str]

    @property
    def display_name(self) -> str:
        """RunPod's short name, near enough: nothing depends on it."""
        return self.gpu_type_id.replace("NVIDIA ", "").replace("GeForce ", "").replace(" Generation", "")

    def price_usd_per_hour(self, count: int) -> Decimal:
        """Price of an instance with ``count`` GPUs: the table's row, else as many times one GPU of the smallest row."""
        smallest = min(self.prices_usd_per_hour)
        return self.prices_usd_per_hour.get(count) or self.prices_usd_per_hour[smallest] / smallest * count


def _rows(name: str) -> list[dict[str, str]]:
    with (_DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@functools.cache
def rented_gpus() -> Mapping[str, RentedGpu]:
    """Return what RunPod rents by our tables, by RunPod's GPU id."""
    specs = {row["sky_name"]: row for row in _rows("gpu_specs.csv")}
    offers: dict[str, list[dict[str, str]]] = {}
    for row in _rows("gpu_prices.csv"):
        if row["cloud"] == "runpod":
            offers.setdefault(row["accelerator"], []).append(row)
    gpus = (_rented_gpu(name, rows, specs[name]) for name, rows in offers.items())
    return {gpu.gpu_type_id: gpu for gpu in gpus}


def _rented_gpu(name: str, rows: Sequence[Mapping[str, str]], spec: Mapping[str, str]) -> RentedGpu:
    one = rows[0]
    count = int(one["count"])
    memory_gb = int(float(one["gpu_memory_gib"]))
    return RentedGpu(
        accelerator=name,
        gpu_type_id=_RUNPOD_IDS.get(name, spec["nvidia_smi_name"]),
        memory_gb=memory_gb,
        memory_mib=int(spec["nvidia_smi_memory_mib"] or memory_gb * 1024),
        compute_capability=spec["compute_capability"],
        vcpus=float(one["vcpus"]) / count,
        host_memory_gib=float(one["memory_gib"]) / count,
        prices_usd_per_hour={int(row["count"]): Decimal(row["price_usd_per_hour"]) for row in rows},
        instance_types={int(row["count"]): row["instance_type"] for row in rows},
    )


def write_catalog(home: Path) -> Path:
    """Write SkyPilot's catalog files below ``home`` and return their folder.

    Without ``.meta`` checksums beside them SkyPilot takes the files as edited by hand and never fetches newer ones
    (sky/catalog/common.py), so that a rehearsal stays offline and its prices stay ours.
    """
    folder = home / ".sky" / "catalogs" / CATALOG_VERSION
    gpus = sorted(rented_gpus().values(), key=lambda gpu: gpu.accelerator)
    _write_csv(folder / "runpod" / "vms.csv", _vms(gpus))
    _write_csv(folder / "common" / "accelerators.csv", _accelerators(gpus))
    metadata = [{"GPU": gpu.accelerator, "MemoryGB": gpu.memory_gb, "Manufacturer": _maker(gpu)} for gpu in gpus]
    _write_csv(folder / "common" / "metadata.csv", metadata)
    return folder


def _accelerators(gpus: Iterable[RentedGpu]) -> list[dict[str, object]]:
    """List every name that SkyPilot knows, with its clouds: a shorter list would make it take A6000 for RTXA6000."""
    clouds = {
        row["sky_name"]: {cloud.strip() for cloud in row["skypilot_clouds"].split(",")} - {""}
        for row in _rows("gpu_specs.csv")
    }
    for gpu in gpus:
        clouds.setdefault(gpu.accelerator, set()).add("RunPod")
    return [{"AcceleratorName": name, "Clouds": str(sorted(where))} for name, where in sorted(clouds.items()) if where]


def _vms(gpus: Iterable[RentedGpu]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for gpu in gpus:
        for count, instance_type in sorted(gpu.instance_types.items()):
            price = gpu.price_usd_per_hour(count)
            memory = {
                "Name": gpu.display_name,
                "Manufacturer": _maker(gpu),
                "Count": count,
                "MemoryInfo": {"SizeInMiB": gpu.memory_mib},
            }
            info = {"Gpus": [memory], "TotalGpuMemoryInMiB": gpu.memory_mib * count}
            rows += [
                {
                    "InstanceType": instance_type,
                    "AcceleratorName": gpu.accelerator,
                    "AcceleratorCount": float(count),
                    "vCPUs": gpu.vcpus * count,
                    "MemoryGiB": gpu.host_memory_gib * count,
                    "Region": region,
                    "SpotPrice": price,
                    "Price": price,
                    "AvailabilityZone": zone,
                    "GpuInfo": json.dumps(info).replace('"', "'"),
                }
                for region, zone in REGIONS
            ]
    return rows


def _maker(gpu: RentedGpu) -> str:
    return "AMD" if gpu.gpu_type_id.startswith("AMD") else "Nvidia"


def _write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
