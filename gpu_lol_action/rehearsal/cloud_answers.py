"""What the loopback cloud answers to each GraphQL field that SkyPilot 0.14.1 and the RunPod SDK ask for.

One function per top-level field. Answers are whole objects; the server cuts them to the selection. Checks of inputs are
RunPod's as far as they are known from its documentation; its exact validation is not played (``GET /_lab/about`` says so).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal

from gpu_lol_action.rehearsal.catalog import RentedGpu, rented_gpus
from gpu_lol_action.rehearsal.cloud_account import Account, Pod
from gpu_lol_action.rehearsal.cloud_graphql import Field
from gpu_lol_action.rehearsal.cloud_pods import PodHouse

NO_CAPACITY = (
    "There are no longer any instances available with the requested specifications. Please refresh and try again."
)
_MAX_GPUS = 10


class Refused(Exception):
    """The cloud says no, with RunPod's words where they are known; becomes ``errors[0].message`` with HTTP status 200."""


class Unexpected(Refused):
    """Nobody wrote an answer for this: recorded, so that a story fails on it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One field to answer: for whom (``account``, or the id of the pod whose scoped key asks), with which arguments."""

    account: Account
    house: PodHouse
    caller: str
    field: Field

    @property
    def input(self) -> Mapping[str, object]:
        """The ``input`` argument, empty when there is none."""
        value = self.field.arguments.get("input")
        return value if isinstance(value, dict) else {}


def answer_myself(call: Call) -> dict[str, object]:
    """The account with its pods, templates and volumes; a pod's own key sees that pod only."""
    account = call.account
    with account.lock:
        pods = [show_pod(pod) for pod in account.pods.values() if call.caller in ("account", pod.pod_id)]
        is_owner = call.caller == "account"
        return {
            "id": "user_loopback",
            "pubKey": account.public_key if is_owner else None,
            "pods": pods,
            "podTemplates": list(account.templates.values()) if is_owner else [],
            "networkVolumes": [],
            "clientBalance": 100.0,
            "currentSpendPerHr": float(sum((pod.price_usd_per_hour for pod in account.pods.values()), Decimal(0))),
        }


def answer_pod(call: Call) -> dict[str, object] | None:
    """One pod, or null."""
    pod = call.account.pods.get(str(call.input.get("podId")))
    return show_pod(pod) if pod is not None and call.caller in ("account", pod.pod_id) else None


def answer_gpu_types(call: Call) -> list[dict[str, object]]:
    """GPU types with their prices, all of them or one by id."""
    wanted = call.input.get("id")
    lowest = next((field for field in call.field.selection if field.name == "lowestPrice"), None)
    lowest_input = lowest.arguments.get("input") if lowest else None
    count = int(str(lowest_input.get("gpuCount") or 1)) if isinstance(lowest_input, dict) else 1
    return [show_gpu(gpu, count) for gpu in rented_gpus().values() if wanted in (None, gpu.gpu_type_id)]


def _require_owner(call: Call) -> None:
    if call.caller != "account":
        raise Refused("Unauthorized")


def _rent(call: Call, *, is_spot: bool) -> dict[str, object]:
    _require_owner(call)
    order = call.input
    for name in ("name", "imageName", "gpuTypeId"):
        if not order.get(name):
            raise Refused(f'Variable "$input" got invalid value; Field "{name}" is required.')
    gpu = rented_gpus().get(str(order["gpuTypeId"]))
    count = int(str(order.get("gpuCount") or 1))
    if gpu is None or not 1 <= count <= _MAX_GPUS:
        raise Refused(NO_CAPACITY)
    pod = call.house.rent(order, gpu, count, is_spot=is_spot)
    return show_pod(pod)


def answer_deploy(call: Call) -> dict[str, object]:
    """Rent a pod at the fixed price."""
    return _rent(call, is_spot=False)


def answer_rent_spot(call: Call) -> dict[str, object]:
    """Rent a pod at a bid; it is never taken away here (a real cloud may)."""
    return _rent(call, is_spot=True)


def _own_pod(call: Call, missing: str) -> Pod:
    pod = call.account.pods.get(str(call.input.get("podId")))
    if pod is None or call.caller not in ("account", pod.pod_id):
        raise Refused(missing)
    return pod


def answer_terminate(call: Call) -> None:
    """End a pod for good; asked by the account, or by the pod itself with its own key."""
    pod = _own_pod(call, "pod not found to terminate")
    call.house.end(pod, "terminated by its own key" if call.caller != "account" else "terminated")


def answer_stop(call: Call) -> dict[str, object]:
    """Stop a pod: it stays on the list, exited."""
    pod = _own_pod(call, "pod not found to stop")
    call.house.stop(pod)
    return show_pod(pod)


def answer_update_user(call: Call) -> dict[str, object]:
    """Set the account's public keys."""
    _require_owner(call)
    call.account.public_key = str(call.input.get("pubKey") or "")
    return {"id": "user_loopback", "pubKey": call.account.public_key}


def answer_save_template(call: Call) -> dict[str, object]:
    """Keep a template (SkyPilot makes one to log in to a private registry)."""
    _require_owner(call)
    template = {"id": f"tpl{secrets.token_hex(5)}", "containerRegistryAuthId": None, "env": [], **call.input}
    call.account.templates[str(template.get("name"))] = template
    return template


def answer_delete_template(call: Call) -> None:
    """Forget a template by its name."""
    _require_owner(call)
    if call.account.templates.pop(str(call.field.arguments.get("templateName")), None) is None:
        raise Refused("Template not found")


def answer_save_registry_auth(call: Call) -> dict[str, object]:
    """Keep that a private registry has a login; the password is not kept."""
    _require_owner(call)
    auth: dict[str, object] = {"id": f"auth{secrets.token_hex(5)}", "name": call.input.get("name")}
    call.account.registry_auths[str(auth["id"])] = auth
    return auth


def answer_delete_registry_auth(call: Call) -> None:
    """Forget a registry login."""
    _require_owner(call)
    if call.account.registry_auths.pop(str(call.field.arguments.get("registryAuthId")), None) is None:
        raise Refused("Registry auth not found")


QUERIES: Mapping[str, Callable[[Call], object]] = {
    "myself": answer_myself,
    "pod": answer_pod,
    "gpuTypes": answer_gpu_types,
}
MUTATIONS: Mapping[str, Callable[[Call], object]] = {
    "podFindAndDeployOnDemand": answer_deploy,
    "podRentInterruptable": answer_rent_spot,
    "podTerminate": answer_terminate,
    "podStop": answer_stop,
    "updateUserSettings": answer_update_user,
    "saveTemplate": answer_save_template,
    "deleteTemplate": answer_delete_template,
    "saveRegistryAuth": answer_save_registry_auth,
    "deleteRegistryAuth": answer_delete_registry_auth,
}


def show_pod(pod: Pod) -> dict[str, object]:
    """A pod as the API shows it."""
    order = pod.request
    started = pod.created_at.strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)")
    return {
        "id": pod.pod_id,
        "name": order.get("name"),
        "imageName": order.get("imageName"),
        "desiredStatus": pod.status,
        "costPerHr": float(pod.price_usd_per_hour),
        "adjustedCostPerHr": float(pod.price_usd_per_hour),
        "containerDiskInGb": order.get("containerDiskInGb"),
        "containerRegistryAuthId": None,
        "dockerArgs": order.get("dockerArgs"),
        "dockerId": None,
        "env": [],
        "gpuCount": pod.gpu_count,
        "lastStatusChange": f"Rented by User: {started}",
        "machineId": "loopback",
        "memoryInGb": pod.gpu.host_memory_gib * pod.gpu_count,
        "podType": "INTERRUPTABLE" if pod.is_spot else "RESERVED",
        "port": None,
        "ports": order.get("ports"),
        "uptimeSeconds": int((datetime.now(timezone.utc) - pod.created_at).total_seconds()),
        "vcpuCount": pod.gpu.vcpus * pod.gpu_count,
        "volumeInGb": order.get("volumeInGb") or 0,
        "volumeMountPath": order.get("volumeMountPath"),
        "runtime": {"ports": list(pod.ports)} if pod.ports else None,
        "machine": {"gpuDisplayName": pod.gpu.display_name, "podHostId": f"{pod.pod_id}-loopback"},
    }


def show_gpu(gpu: RentedGpu, count: int) -> dict[str, object]:
    """A GPU type as the API shows it; there is no community cloud and no discount for spot here."""
    price = float(gpu.price_usd_per_hour(1))
    return {
        "id": gpu.gpu_type_id,
        "displayName": gpu.display_name,
        "manufacturer": "AMD" if gpu.gpu_type_id.startswith("AMD") else "Nvidia",
        "memoryInGb": gpu.memory_gb,
        "cudaCores": 0,
        "maxGpuCount": _MAX_GPUS,
        "secureCloud": True,
        "communityCloud": False,
        "securePrice": price,
        "communityPrice": None,
        "oneMonthPrice": None,
        "threeMonthPrice": None,
        "oneWeekPrice": None,
        "communitySpotPrice": None,
        "secureSpotPrice": price,
        "lowestPrice": {
            "minimumBidPrice": price,
            "uninterruptablePrice": price,
            "minVcpu": gpu.vcpus * count,
            "minMemory": gpu.host_memory_gib * count,
            "stockStatus": "High",
        },
    }
