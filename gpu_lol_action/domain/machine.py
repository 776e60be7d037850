"""Values that pass between handlers and the machines: a launch, its answer, a listed machine, remote output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class LaunchRequest:
    """One try of one offer: the task as SkyPilot reads it, the cluster's name, and the time box."""

    task: Mapping[str, object]
    cluster_name: str
    cloud: str
    time_box: timedelta


@record(frozen=True, slots=True)
class Launched:
    """A machine that answers on SSH. ``price_usd_per_hour`` is what SkyPilot's own catalog says of it; None: not told."""

    name_on_cloud: str
    region: str | None
    ssh: SshEndpoint
    provider_config: Mapping[str, str]
    price_usd_per_hour: Decimal | None = None


@record(frozen=True, slots=True)
class NotLaunched:
    """No machine. ``kind``: no_capacity, no_balance, quota, credentials, invalid, timed_out, cancelled, failed.

    ``is_certain`` is False where a machine may exist all the same (then it is torn down by name).
    """

    kind: str
    detail: str
    is_certain: bool = False


@record(frozen=True, slots=True)
class Machine:
    """A machine as its provider lists it. ``status`` is the provider's word."""

    cloud: str
    name_on_cloud: str
    status: str
    machine_id: str = ""
    created_at: datetime | None = None
    price_usd_per_hour: Decimal | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether its provider has stopped it: nobody reaches it any more, and it may cost something all the same."""
        return self.status.lower() in _STOPPED


# What providers call a machine that they stopped: RunPod's desiredStatus (a spot pod that is outbid is stopped, not
# removed, and so is every pod of an account without balance), Lambda's status, Vast's.
_STOPPED = frozenset({"exited", "dead", "paused", "stopped", "preempted", "terminated"})


def find_loss(machines: Sequence[Machine], name_on_cloud: str) -> str | None:
    """Return how a machine was lost that its provider's list should have: ``machine_gone`` or ``machine_stopped``."""
    listed = [machine for machine in machines if machine.name_on_cloud == name_on_cloud]
    if not listed:
        return "machine_gone"
    return "machine_stopped" if all(machine.is_stopped for machine in listed) else None


@record(frozen=True, slots=True)
class RemoteOutput:
    """What a command on the machine said; cut to size, tail kept."""

    exit_code: int
    stdout: str
    stderr: str


@record(frozen=True, slots=True)
class Look:
    """What one look at a machine saw; None where it could not tell.

    ``changed`` and ``untracked`` count files of the checkout, ``unpushed`` commits that no remote has, ``kept`` files that git
    ignores and the spec's ``keep`` names.
    """

    idle: timedelta | None = None
    changed: int | None = None
    untracked: int | None = None
    unpushed: int | None = None
    kept: int = 0

    @property
    def has_unsaved_work(self) -> bool:
        """Whether something would be lost with the machine; what could not be counted may be something."""
        return any(count is None or count > 0 for count in (self.changed, self.untracked, self.unpushed, self.kept))
