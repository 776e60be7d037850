"""What smoke tests cost at most, one of them and a month of the schedule; a figure that is not known is a word."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record
from gpu_lol_action.pricing.smoke_cost import SmokeCost, SmokeSchedule
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY

UNKNOWN = Safe("unknown")


@record(frozen=True, slots=True)
class SmokeMonthView:
    """A row: a month at the base and now, and in words what it is made of. ``schedule`` is what stands in the workflow."""

    base: Safe
    head: Safe
    schedule: str
    why: str
    runs: Safe
    run: Safe
    month: Safe


def smoke_text(cost: SmokeCost | None) -> Safe:
    """Return what one run costs that takes all its time; nothing where the row of the schedule says it, or it is not known."""
    if cost is None or cost.schedule is not None or cost.run_usd is None:
        return EMPTY
    return Safe(f"a smoke test of {_machines(cost)} {formats.usd(cost.run_usd)}")


def smoke_month(
    cost: SmokeCost | None, month_usd: Decimal | None, ladder: Ladder, policy: Policy
) -> SmokeMonthView | None:
    """Return the row of the schedule; None where no schedule is known."""
    if cost is None or cost.schedule is None:
        return None
    schedule = cost.schedule
    runs = f"at most {formats.plural(schedule.runs_a_month, 'run')}" if schedule.runs_a_month else ""
    # The next offer that is tried costs more, up to the policy's limit.
    each = "at a price that is not known"
    if cost.run_usd is not None:
        each = f"{formats.usd(cost.run_usd)} each at the cheapest offer's price"
    return SmokeMonthView(
        base=_month(cost.base_run_usd, schedule),
        head=_month(cost.run_usd, schedule),
        schedule=schedule.text,
        why=schedule.why,
        runs=Safe(runs),
        run=Safe(f"of {_machines(cost)}, {each}"),
        month=_this_month(cost, schedule, month_usd, ladder, policy),
    )


def _month(run_usd: Decimal | None, schedule: SmokeSchedule) -> Safe:
    if run_usd is None or schedule.runs_a_month is None:
        return UNKNOWN
    return formats.usd(run_usd * schedule.runs_a_month)


def _this_month(
    cost: SmokeCost, schedule: SmokeSchedule, month_usd: Decimal | None, ladder: Ladder, policy: Policy
) -> Safe:
    """Return what this month comes to with one session, without the runs that are still to come and with them."""
    if month_usd is None or cost.run_usd is None or schedule.runs_left is None or ladder.best is None:
        return EMPTY
    without = month_usd + ladder.best.lease_usd
    with_them = without + cost.run_usd * schedule.runs_left
    over = ", over the budget" if with_them > policy.month_usd else ""
    to_come = f"the {formats.plural(schedule.runs_left, 'run')} to come" if schedule.runs_left else "no run to come"
    return Safe(
        f"this month after such a session {formats.usd(without)}, {formats.usd(with_them)} with {to_come}{over}"
    )


def _machines(cost: SmokeCost) -> str:
    length = formats.duration(cost.lease)
    return str(length) if cost.machines == 1 else f"{length} on {cost.machines} machines"
