"""Durations as people write them: ``90m``, ``1.5h``, ``2h30m``, ``45 min``; a bare number means hours."""

from __future__ import annotations

import re
from datetime import timedelta

_PART = re.compile(
    r"\s*(\d{1,5}(?:\.\d{1,3})?)\s*(hours?|hrs?|h|minutes?|mins?|m|days?|d)\s*", re.IGNORECASE | re.ASCII
)
_BARE_HOURS = re.compile(r"\d{1,3}(?:\.\d{1,3})?", re.ASCII)


def parse_duration(text: str) -> timedelta | None:
    """Return the duration that ``text`` writes, or None where it writes none (or a zero one)."""
    text = text.strip()
    if _BARE_HOURS.fullmatch(text):
        return timedelta(hours=float(text)) or None
    total, position = timedelta(0), 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            return None
        amount, unit = float(part[1]), part[2][0].lower()
        total += {
            "h": timedelta(hours=amount),
            "m": timedelta(minutes=amount),
            "d": timedelta(days=amount),
        }[unit]
        position = part.end()
    return total or None


def format_duration(duration: timedelta) -> str:
    """Return ``1 h 58 min``, ``12 min``, ``40 s`` or ``2 d 3 h``: the two largest units that matter."""
    seconds = max(int(duration.total_seconds()), 0)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {seconds} s" if seconds and minutes < 10 else f"{minutes} min"
    return f"{seconds} s"
