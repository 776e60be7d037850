"""What a session costs, what it costs at worst, what the month has cost, and what a change of code changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import MAX_SWEEP_AGE, Policy

# From the sweeper's start to the machine's end: GitHub's late schedules and the provider's answer.
SWEEP_MARGIN = timedelta(minutes=7)

# Findings that decide the machine; a change in any other is not a reason for another price.
_DECISIVE = ("model.", "training.", "inference.", "hardware.", "workload")


@dataclass(frozen=True, slots=True)
class WorstCase:
    """When a machine is gone at the latest if nothing can reach it, and what it costs until then.

    ``sweep_gap`` is the time between two sweeps that this rests on; None where no sweep is known to come at all, and
    both figures hold only if the schedule does what it says.
    """

    ends_by: datetime
    usd: Decimal
    sweep_gap: timedelta | None = None


NOTICE_SHARE = Decimal("0.8")
"""From this part of the month's budget on, spent or promised, people are told once a month."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The month so far and what the running machines may still cost until their leases end."""

    month_usd: Decimal
    committed_usd: Decimal
    limit_usd: Decimal

    @property
    def left_usd(self) -> Decimal:
        """What may still be promised to new machines; never negative."""
        return max(self.limit_usd - self.month_usd - self.committed_usd, Decimal("0.00"))

    @property
    def share(self) -> Decimal:
        """Which part of the limit is spent or promised; over 1 where it is passed, 1 where the limit is nothing."""
        used = self.month_usd + self.committed_usd
        return used / self.limit_usd if self.limit_usd > 0 else Decimal(1)


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One finding that differs between base and head: texts before and after (None: not there), and the newer finding."""

    field: str
    before: str | None
    after: str | None
    finding: Finding


@dataclass(frozen=True, slots=True)
class PriceChange:
    """Base against head: need, cheapest candidate, dollars per hour, and the findings behind it."""

    memory_before_gib: int | None
    memory_after_gib: int | None
    before: Candidate | None
    after: Candidate | None
    usd_per_hour: Decimal
    percent: Decimal | None
    causes: tuple[ValueChange, ...]

    @property
    def is_change(self) -> bool:
        """Whether another machine or another price follows."""
        labels = [(c.offer.cloud, c.offer.label) if c else None for c in (self.before, self.after)]
        return labels[0] != labels[1] or self.usd_per_hour != 0


def sweep_gap(swept_at: datetime | None, policy: Policy, now: datetime) -> timedelta | None:
    """Return how far apart sweeps must be expected here: the policy's interval, or longer where the last is older.

    GitHub starts scheduled runs late and skips some. How long ago the last sweep was is what is known of that: the next
    one may take as long. None where none was lately, or ever: then nothing is known to sweep.
    """
    if swept_at is None or now - swept_at > MAX_SWEEP_AGE:
        return None
    return max(policy.sweep_interval, now - swept_at)


def worst_case(price_usd_per_hour: Decimal, lease: Lease, policy: Policy, gap: timedelta | None) -> WorstCase:
    """Return the worst case: the lease runs out just after a sweep, so the next one (plus a margin) ends it."""
    ends_by = lease.expires_at + (gap or policy.sweep_interval) + SWEEP_MARGIN
    return WorstCase(ends_by, cost_usd(price_usd_per_hour, ends_by - lease.starts_at), gap)


def month_start(now: datetime) -> datetime:
    """Return the first moment of the month, in the zone of ``now`` (UTC)."""
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def spending(billed_usd: Decimal, records: Iterable[EnvironmentRecord], policy: Policy, now: datetime) -> Spending:
    """Return the month's spending: closed bills, running machines so far, and what their leases still promise.

    ``billed_usd`` is the sum of the bills closed since the month began; open records are added on top.
    """
    running = committed = Decimal("0.00")
    for record in records:
        if not record.is_open or record.bill is not None:
            continue
        running += record.cost_so_far_usd(now)
        if record.price_usd_per_hour is not None:
            committed += cost_usd(record.price_usd_per_hour, record.lease.remaining(now))
    return Spending(billed_usd + running, committed, policy.month_usd)


def is_notice_due(month: Spending, records: Iterable[EnvironmentRecord], now: datetime) -> bool:
    """Whether this month's budget has passed the share from which people are told, and nobody was told this month."""
    begun = month_start(now)
    is_told = any(each.budget_noticed_at is not None and each.budget_noticed_at >= begun for each in records)
    return month.share >= NOTICE_SHARE and not is_told


def compare_to_base(base: tuple[Analysis, Ladder], head: tuple[Analysis, Ladder]) -> PriceChange:
    """Return what the head needs against the base, with the findings that changed, decisive ones only."""
    before, after = base[1].best, head[1].best
    old = before.price_usd_per_hour if before else Decimal(0)
    new = after.price_usd_per_hour if after else Decimal(0)
    percent = ((new - old) * 100 / old).quantize(Decimal(1), ROUND_HALF_UP) if old and after else None
    return PriceChange(
        memory_before_gib=base[0].spec.hardware.vram_required_gb,
        memory_after_gib=head[0].spec.hardware.vram_required_gb,
        before=before,
        after=after,
        usd_per_hour=new - old,
        percent=percent,
        causes=_causes(base[0].findings, head[0].findings),
    )


def _causes(base: tuple[Finding, ...], head: tuple[Finding, ...]) -> tuple[ValueChange, ...]:
    old = {finding.field: finding for finding in reversed(base) if finding.field.startswith(_DECISIVE)}
    new = {finding.field: finding for finding in reversed(head) if finding.field.startswith(_DECISIVE)}
    changes = []
    for field in sorted(old.keys() | new.keys()):
        before, after = old.get(field), new.get(field)
        values = (before.value if before else None, after.value if after else None)
        if values[0] != values[1]:
            shown = after or before
            if shown is not None:
                changes.append(ValueChange(field, values[0], values[1], shown))
    return tuple(changes)
