"""Numbers and times as people read them; each result is safe to stand in a comment."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Decimal

from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.render.markdown import Safe

_MINUS = "\u2212"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOUDS = {"runpod": "RunPod", "lambda": "Lambda", "vast": "Vast", "aws": "AWS", "gcp": "GCP", "azure": "Azure"}
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def usd(amount: Decimal) -> Safe:
    """Return ``$2.78``; whole amounts of $10 and more without cents."""
    if amount == amount.to_integral_value() and abs(amount) >= 10:
        return Safe(f"${amount:.0f}")
    return Safe(f"${amount.quantize(Decimal('0.01'), ROUND_HALF_EVEN)}")


def usd_per_hour(price: Decimal) -> Safe:
    """Return ``$1.39/h``; a third place only where the price has one."""
    exact = price.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    text = f"{exact:.2f}" if exact == exact.quantize(Decimal("0.01")) else f"{exact:.3f}"
    return Safe(f"${text}/h")


def known_usd_per_hour(price: Decimal) -> Safe:
    """Return a price, or that it is not known: nothing is rented for nothing."""
    return usd_per_hour(price) if price > 0 else Safe("price unknown")


def usd_per_hour_difference(difference: Decimal) -> Safe:
    """Return ``+$0.95/h``, or the same with a minus sign."""
    return Safe(f"{'+' if difference >= 0 else _MINUS}{usd_per_hour(abs(difference))}")


def percent_difference(old: Decimal, new: Decimal) -> Safe:
    """Return ``+115 %``, or nothing where there is nothing to compare with."""
    if old <= 0:
        return Safe("")
    change = int(((new - old) / old * 100).to_integral_value())
    return Safe(f"{'+' if change >= 0 else _MINUS}{abs(change)} %")


def gib(size: float) -> Safe:
    """Return ``41.2 GiB``."""
    return Safe(f"{size:.1f} GiB")


def gib_difference(size: float) -> Safe:
    """Return ``+15.8 GiB``, or the same with a minus sign."""
    return Safe(f"{'+' if size >= 0 else _MINUS}{gib(abs(size))}")


def gib_range(low: float, high: float) -> Safe:
    """Return ``37–46``: from 10 on whole numbers, because a range is no place for precision."""
    return Safe(f"{low:.0f}–{high:.0f}" if high >= 10 and round(low) != round(high) else f"{low:.1f}–{high:.1f}")


def duration(length: timedelta) -> Safe:
    """Return ``1 h 58 min``."""
    return Safe(format_duration(length))


def hours_label(length: timedelta) -> Safe:
    """Return ``2-hour`` or ``90-minute``, to stand before a noun."""
    minutes = round(length.total_seconds() / 60)
    return Safe(f"{minutes // 60}-hour" if minutes % 60 == 0 else f"{minutes}-minute")


def seconds(amount: float) -> Safe:
    """Return ``11 s``, ``0.4 s`` or ``3 min 12 s``."""
    return Safe(f"{amount:.1f} s") if amount < 9.95 else Safe(format_duration(timedelta(seconds=round(amount))))


def clock(moment: datetime, now: datetime | None = None) -> Safe:
    """Return ``16:05 UTC``, with the day where it is not the day of ``now``."""
    moment = moment.astimezone(timezone.utc)
    if now is not None and now.astimezone(timezone.utc).date() != moment.date():
        return Safe(f"{day(moment.date())} {moment:%H:%M} UTC")
    return Safe(f"{moment:%H:%M} UTC")


def clock_seconds(moment: datetime) -> Safe:
    """Return ``15:48:09 UTC``."""
    return Safe(f"{moment.astimezone(timezone.utc):%H:%M:%S} UTC")


def clock_in(moment: datetime, now: datetime) -> Safe:
    """Return ``16:05 UTC (in 42 min)`` or ``16:05 UTC (12 min ago)``."""
    distance = moment - now
    if abs(distance) < timedelta(minutes=1):
        return Safe(f"{clock(moment, now)} (now)")
    text = format_duration(_to_minutes(abs(distance)))
    return Safe(f"{clock(moment, now)} ({f'in {text}' if distance > timedelta(0) else f'{text} ago'})")


def night(moment: datetime) -> Safe:
    """Return ``20 Nov 03:41``, in UTC."""
    moment = moment.astimezone(timezone.utc)
    return Safe(f"{moment.day} {_MONTHS[moment.month - 1]} {moment:%H:%M}")


def day(moment: date) -> Safe:
    """Return ``20 Nov 2026``."""
    return Safe(f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}")


def plural(count: int, noun: str, many: str = "") -> Safe:
    """Return ``1 package``, ``5 packages``; ``noun`` and ``many`` are words of ours."""
    return Safe(f"{count} {noun if count == 1 else many or noun + 's'}")


def cloud_name(cloud: str) -> str:
    """Return the name a cloud goes by; a name that we do not know is returned as it is, to be escaped."""
    return _CLOUDS.get(cloud.lower(), cloud)


def bar(share: float, width: int = 24) -> str:
    """Return a bar of ``share`` (0 to 1) of ``width`` cells, in eighths of a cell; more than nothing shows."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def _to_minutes(length: timedelta) -> timedelta:
    """Round to what a reader plans by: seconds only within the last ten minutes."""
    if length < timedelta(minutes=10):
        return timedelta(seconds=round(length.total_seconds()))
    return timedelta(minutes=round(length.total_seconds() / 60))
