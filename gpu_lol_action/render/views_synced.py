"""Which commit a running machine has now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import (
    BillingView,
    MachineView,
    ReplyTo,
    billing_view,
    machine_view,
    reply_marker,
    short_sha,
)


@dataclass(frozen=True, slots=True)
class SyncedView:
    """The commit that is on the machine, and whether it is another one than before."""

    marker: Safe
    machine: MachineView
    sha: Safe
    before: Safe
    is_moved: bool
    billing: BillingView


def synced_view(record: EnvironmentRecord, before: str, now: datetime, reply_to: ReplyTo | None) -> SyncedView:
    """Return the answer to ``sync``."""
    return SyncedView(
        marker=reply_marker(reply_to, "synced"),
        machine=machine_view(record),
        sha=short_sha(record.sha),
        before=short_sha(before),
        is_moved=record.sha != before,
        billing=billing_view(record, now),
    )
