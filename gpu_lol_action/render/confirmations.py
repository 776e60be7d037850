"""The answer to an ``up`` that a second person has to confirm: price, worst case, commit, and the line to write."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal

from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.budget import WorstCase
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, link
from gpu_lol_action.render.templating import render_comment
from gpu_lol_action.render.views import (
    NOTHING_LAUNCHED,
    BillingView,
    ReplyTo,
    accelerator_label,
    reply_marker,
    total_billing_view,
)


@dataclass(frozen=True, slots=True)
class AwaitingCase:
    """What waits: the request's name, who asked, and what it would cost."""

    request: str
    requester: str
    sha: str
    best: Candidate
    lease: timedelta
    worst: WorstCase
    policy: Policy
    command_line: str
    now: datetime
    diff_url: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class AwaitingView:
    """The same, as it is shown."""

    marker: Safe
    machine: Safe
    cloud: str
    price: Safe
    lease: Safe
    lease_cost: Safe
    worst_at: Safe
    worst_usd: Safe
    threshold: Safe
    sha: Safe
    requester: str
    project: str
    command_line: str
    roles: str
    until: Safe
    line: str
    billing: BillingView


def awaiting(case: AwaitingCase, *, reply_to: ReplyTo | None = None) -> str:
    """Return the answer; it mentions nobody, for nobody in particular is asked."""
    return render_comment("awaiting", awaiting_view(case, reply_marker(reply_to, "awaiting")))


def awaiting_view(case: AwaitingCase, marker: Safe) -> AwaitingView:
    """Return what is shown; the line names the price of the heading."""
    offer, price = case.best.offer, case.best.price_usd_per_hour
    roles = case.policy.confirm_roles
    return AwaitingView(
        marker=marker,
        machine=accelerator_label(offer.accelerator, offer.accelerator_count),
        cloud=formats.cloud_name(offer.cloud),
        price=formats.usd_per_hour(price),
        lease=formats.duration(case.lease),
        lease_cost=formats.usd(case.best.lease_usd),
        worst_at=formats.clock(case.worst.ends_by, case.now),
        worst_usd=formats.usd(case.worst.usd),
        threshold=formats.usd_per_hour(case.policy.confirm_above_usd_per_hour),
        sha=link(code(case.sha), case.diff_url),
        requester=case.requester,
        project=case.project,
        command_line=case.command_line,
        roles=" or ".join(roles) if roles else "nobody",
        until=formats.clock_in(case.now + case.policy.confirm_within, case.now),
        line=f"/gpu-lol confirm {case.request} --sha {case.sha} --price {_written(price)}",
        billing=total_billing_view((), case.now, none=NOTHING_LAUNCHED),
    )


def _written(price: Decimal) -> str:
    """Return a price as the command takes it, never below what it is."""
    return f"{price.quantize(Decimal('0.0001'), ROUND_UP).normalize():f}"
