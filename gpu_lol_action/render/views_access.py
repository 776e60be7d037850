"""Who may log in to a machine, in words: one person more, or one less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import (
    BillingView,
    MachineView,
    ReplyTo,
    SshView,
    billing_view,
    machine_view,
    reply_marker,
    ssh_view,
)
from gpu_lol_action.render.views_sealed import SealedView


@dataclass(frozen=True, slots=True)
class SharedView:
    """Somebody's keys are on the machine; ``refused`` says which of theirs are not, and why."""

    marker: Safe
    machine: MachineView
    login: str
    keys: Safe
    ends: Safe
    ssh: SshView | None
    sealed: SealedView | None
    user: str
    refused: tuple[str, ...]
    undo: str
    billing: BillingView


@dataclass(frozen=True, slots=True)
class UnsharedView:
    """Somebody's keys are gone from the machine."""

    marker: Safe
    machine: MachineView
    login: str
    others: str
    billing: BillingView


def shared_view(
    record: EnvironmentRecord, login: str, keys: int, refused: Sequence[str], now: datetime, reply_to: ReplyTo | None
) -> SharedView:
    """Return the answer to ``share``."""
    return SharedView(
        marker=reply_marker(reply_to, "shared"),
        machine=machine_view(record),
        login=login,
        keys=formats.plural(keys, "key"),
        ends=formats.clock(record.lease.expires_at, now),
        ssh=ssh_view(record.ssh, record.name, "") if record.ssh and not record.is_ssh_sealed else None,
        sealed=None,
        user=record.ssh.user if record.ssh else "root",
        refused=tuple(refused),
        undo=f"/gpu-lol unshare @{login}",
        billing=billing_view(record, now),
    )


def unshared_view(record: EnvironmentRecord, login: str, now: datetime, reply_to: ReplyTo | None) -> UnsharedView:
    """Return the answer to ``unshare``."""
    names = ", ".join(f"`{each}`" for each in (record.requester.login, *record.shared))
    return UnsharedView(
        marker=reply_marker(reply_to, "unshared"),
        machine=machine_view(record),
        login=login,
        others=names,
        billing=billing_view(record, now),
    )
