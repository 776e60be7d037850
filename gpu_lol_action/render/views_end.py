"""View models of an environment's end: asked for, proven, or not to be proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.budget import Spending
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, join
from gpu_lol_action.render.views import BillingView, MachineView, billing_view, environment_marker, machine_view
from gpu_lol_action.render.views_budget import used_words
from gpu_lol_action.render.views_rescue import RescueView, rescue_view

_LOSSES = ("machine_gone", "machine_stopped")


@dataclass(frozen=True, slots=True)
class EndView:
    """Why it ends: ``reason`` chooses the words in ``_ended_by.md.j2`` (else ``words`` are shown), ``by`` is a login or a job."""

    reason: str
    words: str
    by: str


@dataclass(frozen=True, slots=True)
class EndingView:
    """A teardown that was asked for: by whom or what, and whether the machine is proven gone."""

    marker: Safe
    machine: MachineView
    name_on_cloud: str
    stage: str
    end: EndView
    asked: Safe
    why: str
    seen: Safe
    billing: BillingView


def ending_view(record: EnvironmentRecord, now: datetime, why: str = "") -> EndingView:
    """Return a teardown in flight, or one that could not be proven for the reason ``why``."""
    stone = record.tombstone
    return EndingView(
        marker=environment_marker(record, of="ending"),
        machine=machine_view(record),
        name_on_cloud=record.name_on_cloud or record.name,
        stage=_stage(record),
        end=_end(stone),
        asked=formats.clock(stone.at, now) if stone else formats.clock(now),
        why=why,
        seen=_moments(record.absences),
        billing=billing_view(record, now),
    )


@dataclass(frozen=True, slots=True)
class TornDownView:
    """The certificate: when, by whom or what, the provider's answers, minutes times price, totals."""

    marker: Safe
    machine: MachineView
    was_ready: bool
    is_lost: bool
    end: EndView
    ended: Safe
    was_asked_for: bool
    proof: Safe
    lasted: Safe
    minutes: Safe
    usd: Safe
    earlier_usd: Safe | None
    rescue: RescueView | None
    pr_usd: Safe
    month: Safe
    failure: str
    notice: Safe | None
    billing: BillingView


def torn_down_view(
    record: EnvironmentRecord,
    policy: Policy,
    pr_usd: Decimal,
    month_usd: Decimal,
    now: datetime,
    notice: Spending | None = None,
) -> TornDownView:
    """Return the certificate of a closed record; the bill runs from the request to the second absence."""
    bill = record.bill
    span = bill.until_at - bill.from_at if bill else timedelta(0)
    closed_at = record.closed_at or now
    return TornDownView(
        marker=environment_marker(record),
        machine=machine_view(record),
        was_ready=record.ready_at is not None,
        is_lost=record.ready_at is not None and record.tombstone is not None and record.tombstone.reason in _LOSSES,
        end=_end(record.tombstone),
        ended=formats.clock(closed_at, now),
        was_asked_for=bill is not None,
        proof=_moments(record.absences),
        lasted=formats.duration(span),
        minutes=Safe(f"{span.total_seconds() / 60:.1f} min"),
        usd=formats.usd(record.cost_so_far_usd(now)),
        earlier_usd=formats.usd(record.earlier_cost_usd) if record.earlier_cost_usd else None,
        rescue=rescue_view(record.rescue),
        pr_usd=formats.usd(pr_usd),
        month=Safe(f"{formats.usd(month_usd)} of {formats.usd(policy.month_usd)}"),
        failure=record.failure or "",
        notice=used_words(notice),
        billing=billing_view(record, now),
    )


def _stage(record: EnvironmentRecord) -> str:
    """Return ``gone``, ``unknown`` or ``ending``: how far the end has come."""
    if not record.is_open:
        return "gone"
    return "unknown" if record.state is State.UNKNOWN else "ending"


def _end(stone: Tombstone | None) -> EndView:
    if stone is None:
        return EndView("", "", "")
    return EndView(stone.reason, stone.reason.replace("_", " "), stone.by)


def _moments(absences: Sequence[datetime]) -> Safe:
    """Return ``15:48:09 UTC and 15:48:41 UTC``: when the provider's list lacked the machine."""
    return join((formats.clock_seconds(each) for each in absences), " and ")
