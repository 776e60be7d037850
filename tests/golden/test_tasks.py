"""The tasks, whole, and read back by the real SkyPilot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_lol_action.launch.task import build_task
from tests.golden.task_cases import CASES
from tests.support.sky_catalogs import ask_skypilot, write_catalogs

# Parses tasks with the real SkyPilot in a process and a HOME of its own, and says what SkyPilot understood.
PARSER = """
import json, sys, sky
for config in json.load(sys.stdin):
    task = sky.Task.from_yaml_config(config)
    (resources,) = task.resources
    print("ANSWER " + json.dumps({
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
    write_catalogs(tmp_path, ("US", "CA"))
    tasks = [build_task(CASES[name]) for name in sorted(CASES)]
    parsed = [json.loads(line) for line in ask_skypilot(tmp_path, PARSER, json.dumps(tasks))]
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
