"""What scheduled smoke tests cost at most: how long each machine may live, by how many there are, by how often they run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.cron import Unreadable, month_after, most_in_a_month, parse_cron
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class SmokeSchedule:
    """How often a schedule strikes: at most in a month of the coming year, and in what is left of this one (UTC).

    ``why`` says why that is not known; both figures are None then.
    """

    text: str
    runs_a_month: int | None = None
    runs_left: int | None = None
    why: str = ""


@record(frozen=True, slots=True)
class SmokeCost:
    """What a run costs at most, at the base and now: every machine of it for the whole lease. None: not known.

    ``machines`` is how many run side by side; ``schedule`` is None where none is known.
    """

    lease: timedelta
    machines: int
    run_usd: Decimal | None
    base_run_usd: Decimal | None = None
    schedule: SmokeSchedule | None = None


def smoke_lease(time_box: timedelta, policy: Policy) -> timedelta:
    """Return how long a machine of a smoke test may live: two offers' time, set-up, checks, the test, and time to end it."""
    boxes = policy.timeouts
    needed = 2 * boxes.provision + boxes.setup + boxes.validate + time_box + timedelta(minutes=10)
    return min(max(needed, policy.min_lease), policy.max_lease)


def run_usd(machines: Sequence[Candidate | None], lease: timedelta) -> Decimal | None:
    """Return what these machines cost until their leases end; None where one has no offer or no known price."""
    prices = [each.price_usd_per_hour if each is not None else Decimal(0) for each in machines]
    if not prices or min(prices) <= 0:
        return None
    return sum((cost_usd(price, lease) for price in prices), Decimal("0.00"))


def read_schedule(text: str, now: datetime) -> SmokeSchedule:
    """Return how often a schedule strikes; one that never does within a year is not understood."""
    cron = parse_cron(text)
    if isinstance(cron, Unreadable):
        return SmokeSchedule(text, why=cron.why)
    most = most_in_a_month(cron, now)
    if not most:
        return SmokeSchedule(text, why="it strikes in none of the next twelve months")
    return SmokeSchedule(text, most, cron.strikes(now, month_after(now)))
