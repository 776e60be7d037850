"""Tasks for the goldens: one spec, the clouds of the default policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from gpu_lol_action.domain.environment import Lease
from gpu_lol_action.domain.offer import Candidate, Offer
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, Software, WorkloadType
from gpu_lol_action.launch.task import TaskRequest
from gpu_lol_action.pricing.snapshot import bundled_offers

START = datetime(2026, 11, 20, 16, 0, tzinfo=timezone.utc)
SPEC = EnvironmentSpec(
    Hardware("A40", 2, 40, disk_gb=80),
    Software("docker:pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"),
    meta=Meta("x", WorkloadType.TRAINING),
    env={"TOKENIZERS_PARALLELISM": "false", "GREETING": 'a\'b "c" $d'},
)
IDENTITY = {"repository": "octo/support", "sha": "0" * 40, "pull_request": "12"}


def offer(cloud: str, label: str) -> Offer:
    return next(o for o in bundled_offers()[cloud] if o.label == label)


def request(cloud: str, label: str, **more: object) -> TaskRequest:
    found = offer(cloud, label)
    candidate = Candidate(found, found.price_usd_per_hour, Decimal("1.76"), "fits")
    base = TaskRequest(
        SPEC, candidate, "gl-abc-12", Lease(START, START + timedelta(minutes=90, seconds=1)), identity=IDENTITY
    )
    return replace(base, **more)  # type: ignore[arg-type]  # test data


CASES = {
    "runpod": request("runpod", "A40:2"),
    "runpod_spot_region": request("runpod", "A40:2", use_spot=True, region="CA"),
    "lambda": request("lambda", "A6000:2"),
    "lambda_two_nodes": request("lambda", "A6000:2", spec=replace(SPEC, hardware=replace(SPEC.hardware, num_nodes=2))),
}
