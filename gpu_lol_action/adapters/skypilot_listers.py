"""All machines of an account, asked of each cloud's own SDK as SkyPilot does; runs in SkyPilot's child process only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal


def list_runpod() -> list[dict[str, object]]:
    """List RunPod's pods through its SDK, with the fields that SkyPilot asks for too.

    ``lastStatusChange`` ("Rented by User: Fri Jul 12 2024 15:14:40 GMT-0400 (...)" in RunPod's documentation) is the only
    hint at when a pod was rented; a pod that was stopped or resumed says so there instead, so it is a hint, not a fact.
    """
    from sky.adaptors import runpod

    return [
        {
            "name": pod.get("name") or "",
            "status": pod.get("desiredStatus") or "UNKNOWN",
            "id": pod.get("id") or "",
            "price": pod.get("costPerHr"),
            "since_text": pod.get("lastStatusChange"),
        }
        for pod in runpod.runpod.get_pods()
    ]


def list_lambda() -> list[dict[str, object]]:
    """List Lambda's instances; its API tells no creation time, and the price with the type where it tells the type."""
    from sky.provision.lambda_cloud import lambda_utils

    return [
        {
            "name": item.get("name") or "",
            "status": item.get("status") or "unknown",
            "id": item.get("id") or "",
            "price": dollars_of_type(item.get("instance_type")),
        }
        for item in lambda_utils.LambdaCloudClient().list_instances()
    ]


def dollars_of_type(instance_type: object) -> str | None:
    """Return Lambda's ``price_cents_per_hour`` in dollars, as text; None where it is not there or no number."""
    cents = instance_type.get("price_cents_per_hour") if isinstance(instance_type, Mapping) else None
    return str(Decimal(cents) / 100) if isinstance(cents, int) and not isinstance(cents, bool) else None


def list_vast() -> list[dict[str, object]]:
    """List Vast's instances; SkyPilot's name is the label."""
    from sky.provision.vast import utils

    return [
        {
            "name": item.get("name") or "",
            "status": item.get("status") or "UNKNOWN",
            "id": key,
            "price": item.get("dph_total"),
            "since": item.get("start_date"),
        }
        for key, item in utils.list_instances().items()
    ]


LISTERS: Mapping[str, Callable[[], list[dict[str, object]]]] = {
    "runpod": list_runpod,
    "lambda": list_lambda,
    "vast": list_vast,
}
