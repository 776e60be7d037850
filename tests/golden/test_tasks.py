"""The tasks, whole, and read back by the real SkyPilot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_lol_action.launch.task import build_task
from gpu_lol_action.pricing.snapshot import bundled_offers
from tests.golden.task_cases import CASES

# Parses tasks with the real SkyPilot in a process and a HOME of its own, and says what SkyPilot understood.
PARSER = """
import json, sys, sky
for config in json.load(sys.stdin):
    task = sky.Task.from_yaml_config(config)
    (resources,) = task.resources
    print("PARSED " + json.dumps({
        "name": task.name, "nodes": task.num_nodes, "run": task.run, "setup": task.setup, "workdir": task.workdir,
        "envs": dict(task.envs), "cloud": str(resources.cloud).lower(), "region": resources.region,
        "accelerators": resources.accelerators, "disk": resources.disk_size, "image": resources.extract_docker_image(),
        "spot": resources.use_spot, "max": resources.max_hourly_cost, "instance": resources.instance_type,
        "ports": resources.ports}))
"""


@pytest.mark.parametrize("name", sorted(CASES))
def test_task_equals_its_golden(name: str, assert_golden: Callable[[str, str], None]) -> None:
    assert_golden(f"tasks/{name}.json", json.dumps(build_task(CASES[name]), indent=2) + "\n")


def test_real_skypilot_reads_the_tasks_as_meant(tmp_path: Path) -> None:
    lambda_types = {o.instance_type: o for o in bundled_offers()["lambda"]}
    catalog = tmp_path / ".sky/catalogs/v8"
    rows = [
        f"{kind},{o.accelerator},{o.accelerator_count}.0,{o.vcpus},{o.memory_gib},{o.price_usd_per_hour},us-east-1,,"
        for kind, o in lambda_types.items()
    ]
    header = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"
    for path, lines in {
        "lambda/vms.csv": [header, *rows],
        "runpod/vms.csv": [
            "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo",
            *(f"2x_A40_SECURE,A40,2.0,18.0,96.0,{r},0.88,0.88,{r}-1," for r in ("US", "CA")),
        ],
        "common/accelerators.csv": ["AcceleratorName,Clouds", "A40,\"['RunPod']\"", "A6000,\"['Lambda']\""],
    }.items():
        (catalog / path).parent.mkdir(parents=True, exist_ok=True)
        (catalog / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    tasks = [build_task(CASES[name]) for name in sorted(CASES)]
    ran = subprocess.run(
        [sys.executable, "-c", PARSER],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    parsed = [json.loads(line[7:]) for line in ran.stdout.splitlines() if line.startswith("PARSED ")]
    assert len(parsed) == len(tasks), ran.stderr[-2000:]
    for name, task, read in zip(sorted(CASES), tasks, parsed, strict=True):
        assert isinstance(task, dict)
        resources = task["resources"]
        card, _, count = resources["accelerators"].partition(":")
        cloud, _, region = resources["infra"].partition("/")
        assert read["accelerators"] == {card: int(count)}, name
        assert (read["cloud"], read["region"]) == (cloud, region or None)
        assert read["image"] == resources["image_id"].removeprefix("docker:")
        assert (read["disk"], read["max"], read["spot"]) == (80, resources["max_hourly_cost"], resources["use_spot"])
        assert read["instance"] == resources.get("instance_type")
        assert (read["nodes"], read["envs"]) == (task.get("num_nodes", 1), task["envs"])
        assert (read["run"], read["setup"], read["workdir"], read["ports"]) == (None, None, None, None)
