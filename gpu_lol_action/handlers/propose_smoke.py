"""What the scheduled smoke tests of a pull request's code would cost, beside those of its base."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from gpu_lol_action.analysis.answer.smoke_matrix import matrix
from gpu_lol_action.analysis.answer.smoke_test import DEFAULT_BOX
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.domain.smoke import SmokeCell
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.concluding import Compared, Reading, precision_of, price
from gpu_lol_action.pricing.smoke_cost import SmokeCost, read_schedule, run_usd, smoke_lease


def smoke_cost(compared: Compared, policy: Policy, lookups: Lookups, now: datetime, cron: str = "") -> SmokeCost | None:
    """Return what a smoke test costs at most; None where there is neither one in the spec nor a schedule (``cron``)."""
    head, base = compared.head, compared.base
    if not cron and head.asked.smoke is None:
        return None
    lease = smoke_lease(time_box_of(head.asked), policy)
    old = _run_machines(base, policy, lookups) if base is not None else ()
    old_lease = smoke_lease(time_box_of(base.asked), policy) if base is not None else lease
    return SmokeCost(
        lease=lease,
        machines=len(matrix(head.asked.smoke)),
        run_usd=run_usd(_run_machines(head, policy, lookups), lease),
        base_run_usd=run_usd(old, old_lease),
        schedule=read_schedule(cron, now) if cron else None,
    )


def time_box_of(spec: EnvironmentSpec) -> timedelta:
    """Return how long the test itself may take."""
    return timedelta(minutes=spec.smoke.timeout_minutes) if spec.smoke is not None else DEFAULT_BOX


def _run_machines(reading: Reading, policy: Policy, lookups: Lookups) -> list[Candidate | None]:
    return [_cheapest(reading, cell, policy, lookups) for cell in matrix(reading.asked.smoke)]


def _cheapest(reading: Reading, cell: SmokeCell, policy: Policy, lookups: Lookups) -> Candidate | None:
    """Return the machine that a cell would be tried on first."""
    if cell == SmokeCell():
        return reading.ladder.best
    spec = reading.asked
    if cell.image is not None:
        spec = replace(spec, environment=replace(spec.environment, base_image=cell.image))
    command = Command("smoke", "schedule", gpu=cell.gpu, gpu_count=cell.gpu_count)
    try:
        return price(spec, policy, command, lookups, precision_of(reading.analysis)).best
    except GpuLolError:
        return None
