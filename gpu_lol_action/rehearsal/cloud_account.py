"""The loopback cloud's account: who may ask, what is rented, what went wrong on purpose, what it all cost. State, no network.

Every method is called under the account's lock by the answers; slow work (starting and ending sandboxes) is elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.rehearsal.catalog import RentedGpu

LOG_LIMIT = 2000


@dataclass(slots=True)
class Pod:
    """A rented pod and what the API shows of it. ``status`` is RunPod's ``desiredStatus``."""

    pod_id: str
    number: int
    request: Mapping[str, object]
    gpu: RentedGpu
    gpu_count: int
    price_usd_per_hour: Decimal
    api_key: str
    folder: Path
    created_at: datetime
    is_spot: bool = False
    status: str = "CREATED"
    ports: list[dict[str, object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PodBill:
    """What a pod cost, from its creation to its end."""

    pod_id: str
    name: str
    created_at: datetime
    ended_at: datetime
    price_usd_per_hour: Decimal
    usd: Decimal
    why: str


@dataclass(slots=True)
class Fault:
    """An answer to give instead of the real one, ``times`` times, to calls of ``op`` that fit (``*``: any).

    For ``boot``, which is no call: the pod comes up ``delay_seconds`` later, or with a message never, and is stopped instead.
    """

    op: str
    message: str
    times: int = 1
    gpu_type_id: str | None = None
    data_center: str | None = None
    delay_seconds: float = 0.0
    status: int = 200

    def fits(self, op: str, arguments: Mapping[str, object]) -> bool:
        """Whether this call is meant: by name, and by GPU and data centre when they are given."""
        centers = str(arguments.get("dataCenterId") or "").split(",")
        return (
            (self.op == op or (self.op == "*" and op != "boot"))
            and self.gpu_type_id in (None, arguments.get("gpuTypeId"))
            and (self.data_center is None or self.data_center in centers)
        )


class Account:
    """One customer of the loopback cloud."""

    def __init__(self, api_key: str) -> None:
        """Open the account with its API key."""
        self.lock = threading.RLock()
        self.api_key = api_key
        self.public_key = ""
        self.pods: dict[str, Pod] = {}
        self.bills: list[PodBill] = []
        self.faults: list[Fault] = []
        self.unexpected: list[str] = []
        self.calls: list[dict[str, object]] = []
        self.stand_in: dict[str, object] = {}
        self.templates: dict[str, dict[str, object]] = {}
        self.registry_auths: dict[str, dict[str, object]] = {}

    def owner_of(self, key: str) -> str | None:
        """Return ``account`` for the account's key, a pod's id for the key scoped to that pod, None for a stranger's."""
        if key == self.api_key:
            return "account"
        with self.lock:
            return next((pod.pod_id for pod in self.pods.values() if pod.api_key == key), None)

    def free_number(self) -> int:
        """Return the smallest number (its address on the bridge) that no pod has."""
        taken = {pod.number for pod in self.pods.values()}
        return next(number for number in range(2, 251) if number not in taken)

    def take_fault(self, op: str, arguments: Mapping[str, object]) -> Fault | None:
        """Return the first queued fault that fits this call, counted down."""
        with self.lock:
            for fault in self.faults:
                if fault.fits(op, arguments):
                    fault.times -= 1
                    if fault.times <= 0:
                        self.faults.remove(fault)
                    return fault
        return None

    def close_pod(self, pod: Pod, why: str) -> PodBill:
        """Take the pod off the list and write its bill."""
        ended_at = datetime.now(timezone.utc)
        bill = PodBill(
            pod_id=pod.pod_id,
            name=str(pod.request.get("name")),
            created_at=pod.created_at,
            ended_at=ended_at,
            price_usd_per_hour=pod.price_usd_per_hour,
            usd=cost_usd(pod.price_usd_per_hour, ended_at - pod.created_at),
            why=why,
        )
        with self.lock:
            self.pods.pop(pod.pod_id, None)
            self.bills.append(bill)
        return bill

    def note_unexpected(self, what: str) -> None:
        """Keep what a client asked for and we do not serve: a story asserts that there is none."""
        with self.lock:
            self.unexpected.append(what)

    def log(self, entry: dict[str, object]) -> None:
        """Keep a call for tests and people to read, the oldest forgotten."""
        with self.lock:
            self.calls.append(entry)
            del self.calls[:-LOG_LIMIT]
