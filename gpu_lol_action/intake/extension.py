"""Whether a machine may have more time: lease, budget and sweeper, decided from values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from gpu_lol_action.domain.confirmation import is_same_person
from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.request import Allow, Deny, Gate
from gpu_lol_action.intake.spending_gates import SpendingFacts, check_budget, check_sweeper


@dataclass(frozen=True, slots=True)
class ExtensionFacts:
    """Which machine, by how much, and what is spent and promised (``spending``, of which ``worst_case_usd`` is the extra)."""

    record: EnvironmentRecord
    extra: timedelta
    spending: SpendingFacts


def extended_lease(record: EnvironmentRecord, extra: timedelta) -> Lease:
    """Return the lease with ``extra`` behind its end."""
    return Lease(record.lease.starts_at, record.lease.expires_at + extra)


def decide_extension(facts: ExtensionFacts) -> Lease | Deny:
    """Return the longer lease, or why there is none."""
    record, policy, now = facts.record, facts.spending.policy, facts.spending.now
    if record.state is not State.READY or record.lease.is_over(now):
        state = "its lease is over" if record.state is State.READY else f"it is {record.state.value}"
        return Deny(
            "not_extendable",
            f"`{record.name}` cannot get more time",
            f"{state}; only a machine that is ready has a lease to extend.",
            "/gpu-lol status",
        )
    lease = extended_lease(record, facts.extra)
    if lease.expires_at - lease.starts_at > policy.max_lease:
        return _too_long(record, policy.max_lease)
    for gate in (check_budget, check_sweeper):
        denied = gate(facts.spending)
        if isinstance(denied, Deny):
            return denied
    return lease


def is_dear(record: EnvironmentRecord, policy: Policy) -> bool:
    """Whether this machine costs what two people have to agree to."""
    return (record.price_usd_per_hour or 0) > policy.confirm_above_usd_per_hour


def check_second_person(record: EnvironmentRecord, requester: Requester, role: str, policy: Policy) -> Gate:
    """Refuse more time for a dear machine to whoever asked for it: what was confirmed was its cost for the first lease."""
    if not is_dear(record, policy):
        return Allow()
    if role in policy.confirm_roles and not is_same_person(requester, record.requester):
        return Allow()
    return Deny(
        "confirmation_required",
        f"`{record.name}` costs ${record.price_usd_per_hour:.2f}/h, so a second person gives it more time",
        f"the policy asks for one above ${policy.confirm_above_usd_per_hour:.2f}/h.",
        f"Somebody else with one of the roles {', '.join(policy.confirm_roles)} gives this command.",
    )


def _too_long(record: EnvironmentRecord, longest: timedelta) -> Deny:
    room = record.lease.starts_at + longest - record.lease.expires_at
    minutes = int(room.total_seconds() // 60)
    return Deny(
        "lease_out_of_bounds",
        f"a lease lasts {format_duration(longest)} at most here",
        f"this one began at {record.lease.starts_at:%H:%M} UTC and may be extended by {format_duration(timedelta(minutes=max(minutes, 0)))}.",
        f"/gpu-lol extend {minutes}m"
        if minutes > 0
        else f"A maintainer raises `lease.max` in `{POLICY_PATH}` on the default branch.",
    )
