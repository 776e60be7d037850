"""Spec, one offer and the lease to the mapping that SkyPilot reads as a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import ROUND_UP, Decimal
from typing import Any

from gpu_lol_action.domain.environment import Lease
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.domain.spec import EnvironmentSpec

DEFAULT_DISK_GB = 60  # an image of 8 to 12 GB, packages, and a small model; SkyPilot's own default is 256

# SkyPilot's catalog may be some hours newer than ours: so much dearer a machine is still the one that was shown.
PRICE_MARGIN = Decimal("1.05")

# Clouds whose machines can end themselves without a cloud key on them (an instance role does it).
CLOUDS_WITH_OWN_END = frozenset({"aws", "gcp", "azure"})

# Clouds on which SkyPilot 0.14.1 links several machines to one cluster.
CLOUDS_WITH_MANY_NODES = frozenset({"lambda", "aws", "gcp", "azure", "nebius", "kubernetes", "do"})

# Clouds that rent several cards under one accelerator name: the instance type says which one was priced.
CLOUDS_WITH_MERGED_NAMES = frozenset({"vast", "lambda"})

# SkyPilot 0.14.1 holds no machine that is named by its type to `max_hourly_cost`.
CLOUDS_WITHOUT_LIMIT = CLOUDS_WITH_MERGED_NAMES


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Everything a task is built from. ``identity`` holds repository, SHA and pull request for ``GPU_LOL_*``."""

    spec: EnvironmentSpec
    candidate: Candidate
    name: str
    lease: Lease
    use_spot: bool = False
    region: str | None = None
    identity: Mapping[str, str] = field(default_factory=dict)


def build_task(request: TaskRequest) -> dict[str, Any] | Deny:
    """Return the task: resources and variables only, for the code arrives over SSH, after which set-up runs.

    Several machines on a cloud that cannot link them are denied.
    """
    spec, offer = request.spec, request.candidate.offer
    nodes = spec.hardware.num_nodes
    if nodes > 1 and offer.cloud not in CLOUDS_WITH_MANY_NODES:
        return Deny(
            "many_nodes_unsupported",
            f"The spec asks for {nodes} machines, and {offer.cloud} cannot link machines to one cluster.",
            f"Clouds that can: {', '.join(sorted(CLOUDS_WITH_MANY_NODES))}.",
            "Set `hardware.num_nodes: 1`, or name one of these clouds with `--cloud`.",
        )
    task: dict[str, Any] = {"name": request.name, "resources": _resources(request), "envs": _variables(request)}
    if nodes > 1:
        task["num_nodes"] = nodes
    return task


def _resources(request: TaskRequest) -> dict[str, Any]:
    spec, candidate = request.spec, request.candidate
    offer = candidate.offer
    resources: dict[str, Any] = {
        "infra": f"{offer.cloud}/{request.region}" if request.region else offer.cloud,
        "accelerators": offer.label,
        "disk_size": spec.hardware.disk_gb or DEFAULT_DISK_GB,
        "max_hourly_cost": float(price_limit(candidate)),
        "use_spot": request.use_spot,
    }
    if offer.cloud in CLOUDS_WITH_MERGED_NAMES:
        resources["instance_type"] = offer.instance_type
    if spec.environment.base_image:
        resources["image_id"] = f"docker:{spec.environment.base_image.removeprefix('docker:')}"
    if offer.cloud in CLOUDS_WITH_OWN_END:
        resources["autostop"] = {"idle_minutes": _minutes(request.lease), "down": True, "wait_for": "none"}
    return dict(sorted(resources.items()))


def price_limit(candidate: Candidate) -> Decimal:
    """Return the most that a machine may cost in US dollars an hour: a catalog may be a little newer than the shown one."""
    return (candidate.price_usd_per_hour * PRICE_MARGIN).quantize(Decimal("0.01"), ROUND_UP)


def _minutes(lease: Lease) -> int:
    """Return the lease in whole minutes, rounded up."""
    return -(-(lease.expires_at - lease.starts_at) // timedelta(minutes=1))


def _variables(request: TaskRequest) -> dict[str, str]:
    """Return the variables every program on the machine sees: the spec's, the caches, and where it runs."""
    offer = request.candidate.offer
    ours = {
        "GPU_LOL": "1",
        "GPU_LOL_ENVIRONMENT": request.name,
        "GPU_LOL_EXPIRES_AT": _stamp(request.lease.expires_at),
        "GPU_LOL_CLOUD": offer.cloud,
        "GPU_LOL_ACCELERATOR": offer.label,
        "GPU_LOL_WORKLOAD": request.spec.meta.workload_type.value,
        **{f"GPU_LOL_{key.upper()}": value for key, value in sorted(request.identity.items())},
    }
    caches = {"HF_HOME": "/root/.cache/huggingface", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return {**caches, **dict(sorted(request.spec.env.items())), **ours}


def _stamp(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
