"""What a session comes to beside its own price: the month with it, and a machine that may be taken away."""

from __future__ import annotations

from decimal import Decimal

from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY


def month_text(month_usd: Decimal | None, ladder: Ladder, policy: Policy) -> Safe:
    """Return what was spent this month and what it is after one session; nothing where that is not known (a terminal)."""
    if month_usd is None:
        return EMPTY
    so_far = f"this month so far {formats.usd(month_usd)} of {formats.usd(policy.month_usd)}"
    if ladder.best is None:
        return Safe(so_far)
    after = month_usd + ladder.best.lease_usd
    over = ", over the budget" if after > policy.month_usd else ""
    return Safe(f"{so_far}, {formats.usd(after)} after such a session{over}")


def spot_text(spot: Candidate | None, ladder: Ladder) -> Safe:
    """Return where the same would cost less on a machine that may be taken away; nothing where it would not."""
    if spot is None or ladder.best is None:
        return EMPTY
    price, cloud = formats.usd_per_hour(spot.price_usd_per_hour), formats.cloud_name(spot.offer.cloud)
    known = cloud if cloud.isalnum() else spot.offer.cloud
    return Safe(f"{price} with `--spot` on {known}, which may end it at any time")
