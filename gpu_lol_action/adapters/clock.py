"""The one clock: everything else is told the time."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone


class SystemClock:
    """Wall time for leases and bills, in UTC; fulfils the ``Clock`` port."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(timezone.utc)

    def sleep(self, duration: timedelta) -> None:
        """Wait that long; a negative duration does not wait."""
        time.sleep(max(duration.total_seconds(), 0.0))
