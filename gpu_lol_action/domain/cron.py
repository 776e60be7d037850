"""When a workflow's schedule strikes: POSIX cron with five fields in UTC, as GitHub's documentation of `on.schedule` has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from gpu_lol_action.domain.records import record

MOST_AN_HOUR = 12
"""GitHub starts a schedule every five minutes at most (docs.github.com, "Events that trigger workflows", `schedule`)."""

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NO_NAMES: Mapping[str, int] = {}
_LONGEST = 200


@record(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    names: Mapping[str, int]


_FIELDS = (
    _Field("minute", 0, 59, _NO_NAMES),
    _Field("hour", 0, 23, _NO_NAMES),
    _Field("day of the month", 1, 31, _NO_NAMES),
    _Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field("day of the week", 0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


@record(frozen=True, slots=True)
class Unreadable:
    """Why a schedule says nothing, in a clause without the schedule itself."""

    why: str


@record(frozen=True, slots=True)
class Cron:
    """The values that each field allows; weekdays count from Sunday, 0.

    ``is_either_day``: both days are restricted, and a date matches where one of them does (POSIX, `crontab`).
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_either_day: bool

    def strikes_on(self, day: datetime) -> bool:
        """Whether it strikes at all on this day."""
        if day.month not in self.months:
            return False
        matches = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return any(matches) if self.is_either_day else all(matches)

    def strikes(self, after: datetime, before: datetime) -> int:
        """Return how often it strikes later than ``after`` and earlier than ``before``; no hour more often than GitHub does."""
        after, before = after.astimezone(timezone.utc), before.astimezone(timezone.utc)
        day, count = after.replace(hour=0, minute=0, second=0, microsecond=0), 0
        while day < before:
            if self.strikes_on(day):
                count += sum(self._in_hour(day + timedelta(hours=hour), after, before) for hour in self.hours)
            day += timedelta(days=1)
        return count

    def _in_hour(self, hour: datetime, after: datetime, before: datetime) -> int:
        found = sum(after < hour + timedelta(minutes=minute) < before for minute in self.minutes)
        return min(found, MOST_AN_HOUR)


def parse_cron(text: str) -> Cron | Unreadable:
    """Return when the schedule strikes, or why that cannot be told."""
    if len(text) > _LONGEST:
        return Unreadable("it is too long for a schedule")
    words = text.split()
    if len(words) == 1 and text.strip().startswith("@"):
        return Unreadable("GitHub knows no such names, only five fields")
    if len(words) != len(_FIELDS):
        return Unreadable(f"a schedule has five fields, this one has {len(words)}")
    found: list[frozenset[int]] = []
    for field, word in zip(_FIELDS, words, strict=True):
        values: set[int] = set()
        for item in word.split(","):
            read = _item(field, item)
            if isinstance(read, Unreadable):
                return read
            values |= read
        found.append(frozenset(values))
    # A step of all days restricts them too; where a reader of cron counts it as `*`, it strikes less often than said here.
    minutes, hours, days, months, weekdays = found
    return Cron(minutes, hours, days, months, weekdays, is_either_day=words[2] != "*" and words[4] != "*")


def month_after(moment: datetime) -> datetime:
    """Return the first moment of the month after this one."""
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)


def most_in_a_month(cron: Cron, now: datetime) -> int:
    """Return how often it strikes in the busiest of the twelve months from the next one on."""
    most, begin = 0, month_after(now.astimezone(timezone.utc))
    for _ in range(12):
        end = month_after(begin)
        most = max(most, cron.strikes(begin - timedelta(seconds=1), end))
        begin = end
    return most


def _item(field: _Field, text: str) -> set[int] | Unreadable:
    """Return the values of ``*``, ``5``, ``MON-FRI``, ``*/15`` or ``20/15`` (from 20 to the end)."""
    span, slash, step_text = text.partition("/")
    step = _number(step_text) if slash else 1
    if step is None or step < 1:
        return Unreadable(f"a step of its {field.name} is no number from 1 on")
    if span == "*":
        return set(range(field.low, field.high + 1, step))
    begin_text, dash, end_text = span.partition("-")
    begin = _value(field, begin_text)
    end = _value(field, end_text) if dash else field.high if slash else begin
    if begin is None or end is None:
        return Unreadable(f"its {field.name} is none from {field.low} to {field.high}")
    if end < begin:
        return Unreadable(f"a range of its {field.name} ends before it begins")
    return set(range(begin, end + 1, step))


def _value(field: _Field, text: str) -> int | None:
    number = field.names.get(text.upper(), _number(text))
    return number if number is not None and field.low <= number <= field.high else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else None
