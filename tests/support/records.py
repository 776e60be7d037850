"""A record of an environment that was just claimed, with what a test does not care about filled in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State


def claimed(at: datetime, **changes: object) -> EnvironmentRecord:
    """Return @ada's claim of that moment, for two hours, for pull request 12; any field may be another."""
    record = EnvironmentRecord(
        name="gl-a-12",
        state=State.CLAIMED,
        repository="acme/train",
        repository_id=5,
        pull_request=12,
        profile="",
        sha="a" * 40,
        requester=Requester("ada", 7),
        run_id="76",
        claimed_at=at,
        lease=Lease(at, at + timedelta(hours=2)),
        updated_at=at,
        user_hash="0123abcd",
    )
    return replace(record, **changes)  # type: ignore[arg-type]  # keyword bag
