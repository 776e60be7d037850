"""One rented machine for one PR and profile: its record, its states, its lease."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.names import machine_label
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.domain.waiting import Waiting


class State(enum.Enum):
    """Where an environment stands (product.md section 8)."""

    CLAIMED = "claimed"
    LAUNCHING = "launching"
    VALIDATING = "validating"
    READY = "ready"
    ENDING = "ending"
    CLOSED = "closed"
    FAILED = "failed"
    UNKNOWN = "unknown"


# FAILED means: it ended without ever being usable AND is proven gone. UNKNOWN counts as running.
TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.CLAIMED: frozenset({State.CLAIMED, State.LAUNCHING, State.ENDING, State.UNKNOWN}),
    State.LAUNCHING: frozenset({State.LAUNCHING, State.VALIDATING, State.ENDING, State.UNKNOWN}),
    State.VALIDATING: frozenset({State.VALIDATING, State.READY, State.ENDING, State.UNKNOWN}),
    State.READY: frozenset({State.READY, State.ENDING, State.UNKNOWN}),
    State.ENDING: frozenset({State.ENDING, State.CLOSED, State.FAILED, State.UNKNOWN}),
    State.UNKNOWN: frozenset({State.UNKNOWN, State.ENDING}),
    State.CLOSED: frozenset({State.CLOSED, State.CLAIMED}),
    State.FAILED: frozenset({State.FAILED, State.CLAIMED}),
}

OPEN_STATES = frozenset(State) - {State.CLOSED, State.FAILED}
"""States in which a machine may exist and cost money."""


def may_move(old: State, new: State) -> bool:
    """Whether the ledger accepts this step."""
    return new in TRANSITIONS[old]


@record(frozen=True, slots=True)
class Lease:
    """When the machine was granted and when it ends, in aware UTC datetimes."""

    starts_at: datetime
    expires_at: datetime

    def remaining(self, now: datetime) -> timedelta:
        """Time left, never negative."""
        return max(self.expires_at - now, timedelta(0))

    def is_over(self, now: datetime) -> bool:
        """Whether the end has been reached."""
        return now >= self.expires_at


@record(frozen=True, slots=True)
class SshEndpoint:
    """Where and as whom to log in. ``host_key`` is a ``known_hosts`` key such as ``ssh-ed25519 AAAA...``."""

    host: str
    port: int
    user: str
    host_key: str | None = None


class CheckStatus(enum.Enum):
    """Outcome of one check of the validator."""

    PASSED = "passed"
    FAILED = "failed"
    NOTED = "noted"


@record(frozen=True, slots=True)
class Check:
    """One thing the validator looked at, in a sentence of its own; ``fix`` says what to do when it failed."""

    name: str
    status: CheckStatus
    sentence: str
    fix: str = ""
    is_stand_in: bool = False


@record(frozen=True, slots=True)
class Attempt:
    """One offer tried: ``answer`` is a code (``launched``, ``no_capacity``, ``timed_out``, ...), ``detail`` a short sentence."""

    cloud: str
    accelerator: str
    accelerator_count: int
    price_usd_per_hour: Decimal
    answer: str
    detail: str
    seconds: float
    region: str | None = None


@record(frozen=True, slots=True)
class PhaseTime:
    """How long a named phase of ``up`` took."""

    name: str
    seconds: float


@record(frozen=True, slots=True)
class Tombstone:
    """Who asked for the end, why (``down``, ``pull_request_closed``, ``lease_over``, ``launch_failed``, ...), and when."""

    by: str
    reason: str
    at: datetime


@record(frozen=True, slots=True)
class Warned:
    """That somebody was told of a coming end: which (``lease`` or ``idle``), the end that was named, and when it was said."""

    of: str
    ends_at: datetime
    at: datetime


@record(frozen=True, slots=True)
class Bill:
    """What a machine cost, as an estimate: from ``from_at`` (launch asked for) to ``until_at`` (proven absent)."""

    from_at: datetime
    until_at: datetime
    price_usd_per_hour: Decimal
    usd: Decimal


@record(frozen=True, slots=True)
class Requester:
    """Who asked: login (a user name in the terminal) and numeric id where GitHub knows one."""

    login: str
    user_id: int | None = None


@record(frozen=True, slots=True)
class EnvironmentRecord:
    """Everything a later run on another machine needs to find, show, bill and end this environment. Holds no secret.

    ``launcher_stopped_at`` is set once nothing launches any more on behalf of this record: only then
    can an absence prove anything. ``keep`` are the paths that the spec wants saved before the end. ``earlier_cost_usd`` is
    what tries that were torn down have cost. ``confirmed_by`` is the second person where the price asked for one. ``budget_noticed_at``: when
    an answer about this environment said that most of the month's budget is gone. ``shared``: whose keys are on the machine
    beside the requester's. ``waiting``: that a machine was waited for, and how long.
    ``project`` is the folder that it was rented for, where the repository leaves a choice.
    ``is_ssh_sealed``: nobody reads the address who cannot log in; what is stored has it in ``sealed_ssh`` alone, and
    ``ssh`` is None for a run without the key.
    """

    name: str
    state: State
    repository: str
    repository_id: int
    pull_request: int | None
    profile: str
    sha: str
    requester: Requester
    run_id: str
    claimed_at: datetime
    lease: Lease
    updated_at: datetime
    user_hash: str
    key_version: int = 1
    cloud: str | None = None
    region: str | None = None
    accelerator: str | None = None
    accelerator_count: int = 0
    use_spot: bool = False
    price_usd_per_hour: Decimal | None = None
    name_on_cloud: str | None = None
    provider_config: Mapping[str, str] = field(default_factory=dict)
    launch_asked_at: datetime | None = None
    launcher_stopped_at: datetime | None = None
    earlier_cost_usd: Decimal = Decimal("0.00")
    ready_at: datetime | None = None
    ssh: SshEndpoint | None = None
    attempts: tuple[Attempt, ...] = ()
    phases: tuple[PhaseTime, ...] = ()
    checks: tuple[Check, ...] = ()
    packages: tuple[str, ...] = ()
    warned: Warned | None = None
    keep: tuple[str, ...] = ()
    rescue: Rescue | None = None
    tombstone: Tombstone | None = None
    absences: tuple[datetime, ...] = ()
    bill: Bill | None = None
    status_comment_id: int | None = None
    closed_at: datetime | None = None
    failure: str | None = None
    confirmed_by: str | None = None
    budget_noticed_at: datetime | None = None
    shared: tuple[str, ...] = ()
    is_rehearsal: bool = False
    waiting: Waiting | None = None
    is_ssh_sealed: bool = False
    sealed_ssh: str = ""
    project: str = ""

    @property
    def label(self) -> str:
        """What people call it among the machines of a pull request; empty for the default one."""
        return machine_label(self.project, self.profile)

    @property
    def is_open(self) -> bool:
        """Whether a machine may exist and cost money."""
        return self.state in OPEN_STATES

    @property
    def is_waiting(self) -> bool:
        """Whether it rests between two rounds of asking for a machine: nothing is launched, nothing costs money."""
        return self.state is State.LAUNCHING and self.waiting is not None and self.launch_asked_at is None

    def cost_so_far_usd(self, now: datetime) -> Decimal:
        """Cost up to ``now`` (or the bill when closed); zero before anything was asked of a cloud."""
        if self.bill is not None:
            return self.bill.usd
        if self.price_usd_per_hour is None or self.launch_asked_at is None:
            return self.earlier_cost_usd
        return self.earlier_cost_usd + cost_usd(self.price_usd_per_hour, now - self.launch_asked_at)
