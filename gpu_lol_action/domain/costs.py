"""What time on a machine costs."""

from __future__ import annotations

from datetime import timedelta
from decimal import ROUND_UP, Decimal


def cost_usd(price_usd_per_hour: Decimal, duration: timedelta) -> Decimal:
    """Cost of ``duration`` at an hourly price, rounded up to the cent so that it never understates."""
    seconds = Decimal(str(max(duration.total_seconds(), 0.0)))
    return (price_usd_per_hour * seconds / Decimal(3600)).quantize(Decimal("0.01"), ROUND_UP)
