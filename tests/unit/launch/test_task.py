from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware
from gpu_lol_action.launch.task import build_task
from tests.golden.task_cases import SPEC, offer, request


def test_task_leaves_code_and_set_up_to_us() -> None:
    task = build_task(request("runpod", "A40:2"))
    assert isinstance(task, dict)
    assert not {"workdir", "setup", "run", "file_mounts", "secrets"} & task.keys()


def test_task_always_bounds_disk_and_price() -> None:
    bare = EnvironmentSpec(Hardware(gpu_count=1))
    task = build_task(request("runpod", "A40:1", spec=bare))
    assert isinstance(task, dict)
    assert task["resources"]["disk_size"] == 60
    assert task["resources"]["max_hourly_cost"] == 0.47  # $0.44 and 5 %, because SkyPilot's catalog may be newer
    assert "image_id" not in task["resources"]


@pytest.mark.parametrize(
    ("cloud", "has_autostop"), [("runpod", False), ("lambda", False), ("vast", False), ("aws", True)]
)
def test_task_ends_itself_only_where_no_cloud_key_is_needed_on_the_machine(cloud: str, has_autostop: bool) -> None:
    found = replace(offer("runpod", "A40:1"), cloud=cloud)
    task = build_task(request("runpod", "A40:2", candidate=Candidate(found, Decimal(1), Decimal(2), "")))
    assert isinstance(task, dict)
    assert ("autostop" in task["resources"]) is has_autostop
    if has_autostop:
        assert task["resources"]["autostop"] == {"idle_minutes": 91, "down": True, "wait_for": "none"}


def test_several_machines_are_denied_where_they_cannot_be_linked() -> None:
    many = replace(SPEC, hardware=replace(SPEC.hardware, num_nodes=4))
    found = build_task(request("runpod", "A40:2", spec=many))
    assert isinstance(found, Deny)
    assert found.reason_code == "many_nodes_unsupported"
    assert "4 machines" in found.what
