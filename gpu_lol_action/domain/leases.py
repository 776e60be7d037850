"""What a lease asks for now: nothing, a warning, or the end."""

from __future__ import annotations

from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, State
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record

WARN_BEFORE = timedelta(minutes=30)
"""At least this long before a machine ends, its requester is told; a sweep that runs hourly may tell sooner."""


@record(frozen=True, slots=True)
class Keep:
    """Nothing is due."""


@record(frozen=True, slots=True)
class Warn:
    """Its requester is to be told: ``of`` is ``lease`` or ``idle``, ``ends_at`` the earliest end that follows."""

    of: str
    ends_at: datetime


@record(frozen=True, slots=True)
class End:
    """It is to end now, for this reason."""

    reason: str


def decide_lease(record: EnvironmentRecord, look: Look | None, policy: Policy, now: datetime) -> Keep | Warn | End:
    """Return what is due for a machine that is ready and not being ended; ``look`` None: it was not or cannot be asked.

    Idle for the policy's time ends it at once where nothing on it would be lost. Otherwise its requester is warned first,
    and it ends when it is still idle ``WARN_BEFORE`` later. What cannot be told counts as used.
    """
    if record.lease.is_over(now):
        return End("lease_over")
    if record.state is not State.READY:
        return Keep()
    if look is not None and look.idle is not None and look.idle >= policy.idle_end:
        return _idle(record, look, now)
    ends_at = record.lease.expires_at
    is_told = record.warned is not None and record.warned.of == "lease" and record.warned.ends_at == ends_at
    # The next sweep comes an interval later: whom it would tell too late is told now.
    if not is_told and record.lease.remaining(now) <= WARN_BEFORE + policy.sweep_interval:
        return Warn("lease", ends_at)
    return Keep()


def _idle(record: EnvironmentRecord, look: Look, now: datetime) -> Keep | Warn | End:
    if not look.has_unsaved_work:
        return End("idle")
    warned = record.warned
    # A warning from before the machine was last used is spent.
    if warned is None or warned.of != "idle" or (look.idle is not None and warned.at < now - look.idle):
        return Warn("idle", now + WARN_BEFORE)
    return End("idle") if now >= warned.ends_at else Keep()
