"""The checks of a machine in use, held against those it passed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import Check, CheckStatus, EnvironmentRecord
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import (
    BillingView,
    CheckView,
    MachineView,
    ReplyTo,
    billing_view,
    check_views,
    machine_view,
    passed_of,
    reply_marker,
)


@dataclass(frozen=True, slots=True)
class ValidatedView:
    """The checks of a machine in use; ``worse`` names those that passed before and fail now."""

    marker: Safe
    mark: Safe
    machine: MachineView
    passed: Safe
    worse: str
    checks: tuple[CheckView, ...]
    billing: BillingView


def validated_view(
    record: EnvironmentRecord, checks: Sequence[Check], before: Sequence[Check], now: datetime, reply_to: ReplyTo | None
) -> ValidatedView:
    """Return the answer to ``validate``."""
    failed = {check.name for check in checks if check.status is CheckStatus.FAILED}
    good = [check.name for check in before if check.status is not CheckStatus.FAILED]
    return ValidatedView(
        marker=reply_marker(reply_to, "validated"),
        mark=Safe("🔴" if failed else "🟢"),
        machine=machine_view(record),
        passed=passed_of(checks),
        worse=", ".join(f"`{name}`" for name in good if name in failed),
        checks=check_views(checks),
        billing=billing_view(record, now),
    )
