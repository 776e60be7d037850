"""SkyPilot catalogs written from the price snapshot, so that the real SkyPilot answers offline."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gpu_lol_action.pricing.snapshot import bundled_offers

_RUNPOD = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
)
_LAMBDA = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"


def write_catalogs(home: Path, regions: tuple[str, ...] = ("US",)) -> None:
    """Write catalogs for RunPod and Lambda below a HOME; without checksums beside them SkyPilot never refreshes them."""
    rows = {"runpod": [_RUNPOD], "lambda": [_LAMBDA], "common": ["AcceleratorName,Clouds"]}
    names: set[str] = set()
    for cloud in ("runpod", "lambda"):
        for offer in bundled_offers()[cloud]:
            names.add(offer.accelerator)
            size = f"{offer.instance_type},{offer.accelerator},{offer.accelerator_count}.0,{offer.vcpus},{offer.memory_gib}"
            price = offer.price_usd_per_hour
            if cloud == "runpod":
                rows[cloud] += [f"{size},{region},{price},{price},{region}-1," for region in regions]
            else:
                rows[cloud].append(f"{size},{price},us-east-1,,")
    rows["common"] += [f"{name},\"['RunPod', 'Lambda']\"" for name in sorted(names)]
    for folder, lines in rows.items():
        path = home / ".sky/catalogs/v8" / folder / ("accelerators.csv" if folder == "common" else "vms.csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def ask_skypilot(home: Path, program: str, question: str) -> list[str]:
    """Run a program that imports sky, in a process and a HOME of its own; return its lines that start with ``ANSWER ``."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program], input=question, capture_output=True, text=True, env=environment, cwd=home, check=False
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    return [line.removeprefix("ANSWER ") for line in ran.stdout.splitlines() if line.startswith("ANSWER ")]
