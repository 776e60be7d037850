"""A lease in words: more time, or an end that comes near and what would be lost with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.leases import Warn
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.launch.rescue import MAX_FILES_BYTES, MAX_PACKED_BYTES
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, join
from gpu_lol_action.render.marker import build_marker
from gpu_lol_action.render.views import BillingView, MachineView, ReplyTo, billing_view, machine_view, reply_marker


@dataclass(frozen=True, slots=True)
class ExtendedView:
    """More time for a machine; ``worst_at`` is empty where its price is not known."""

    marker: Safe
    machine: MachineView
    ends: Safe
    ended: Safe
    left: Safe
    worst_at: Safe
    billing: BillingView


def extended_view(
    record: EnvironmentRecord, before: Lease, worst_at: datetime | None, now: datetime, reply_to: ReplyTo | None
) -> ExtendedView:
    """Return the answer to an extension that was granted."""
    return ExtendedView(
        marker=reply_marker(reply_to, "extended"),
        machine=machine_view(record),
        ends=formats.clock(record.lease.expires_at, now),
        ended=formats.clock(before.expires_at, now),
        left=formats.duration(record.lease.remaining(now)),
        worst_at=formats.clock(worst_at, now) if worst_at else Safe(""),
        billing=billing_view(record, now),
    )


@dataclass(frozen=True, slots=True)
class WarningView:
    """An end that comes near. ``loss`` is ``nothing``, ``unknown`` or ``some``; then ``lost`` counts what.

    ``kept`` are the paths that are saved though git ignores them.
    """

    marker: Safe
    machine: MachineView
    of: str
    ends: Safe
    left: Safe
    unused: Safe
    loss: str
    lost: Safe
    kept: Safe
    limits: Safe
    billing: BillingView


def warning_view(record: EnvironmentRecord, due: Warn, look: Look | None, now: datetime) -> WarningView:
    """Return the warning of a lease's end, or of one for want of use."""
    return WarningView(
        # Each end that was named has a warning of its own.
        marker=build_marker(
            "warning", pr=record.pull_request, name=record.name, of=due.of, ends=f"{due.ends_at:%Y%m%dT%H%M}"
        ),
        machine=machine_view(record),
        of=due.of,
        ends=formats.clock(due.ends_at, now),
        left=formats.duration(due.ends_at - now),
        unused=formats.duration(look.idle) if look is not None and look.idle is not None else Safe(""),
        loss=_loss(look),
        lost=_lost(look),
        kept=join((code(path) for path in record.keep), ", "),
        limits=Safe(f"{MAX_FILES_BYTES >> 20} MiB, {MAX_PACKED_BYTES >> 20} MiB packed"),
        billing=billing_view(record, now),
    )


def _loss(look: Look | None) -> str:
    if look is None or None in (look.changed, look.untracked, look.unpushed):
        return "unknown"
    return "some" if look.has_unsaved_work else "nothing"


def _lost(look: Look | None) -> Safe:
    if look is None:
        return Safe("")
    counts = (
        (look.changed, "changed file", ""),
        (look.untracked, "new file", ""),
        (look.unpushed, "commit", ""),
        (look.kept, "file that `keep:` names", "files that `keep:` names"),
    )
    return join((formats.plural(count, one, many) for count, one, many in counts if count), ", ")
