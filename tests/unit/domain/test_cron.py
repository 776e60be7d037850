from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_lol_action.domain.cron import Cron, Unreadable, month_after, most_in_a_month, parse_cron

NOVEMBER = datetime(2026, 11, 1, tzinfo=timezone.utc)
DECEMBER = datetime(2026, 12, 1, tzinfo=timezone.utc)


def read(text: str) -> Cron:
    cron = parse_cron(text)
    assert isinstance(cron, Cron), cron
    return cron


def in_november(text: str) -> int:
    return read(text).strikes(NOVEMBER - timedelta(seconds=1), DECEMBER)


# November 2026 has 30 days, begins on a Sunday and has five Sundays and Mondays.
@pytest.mark.parametrize(
    ("text", "strikes"),
    [
        ("41 3 * * *", 30),
        ("0 0 * * 1", 5),
        ("0 0 * * SUN", 5),
        ("0 0 * * mon-fri", 21),
        ("0 0 * * 1-5", 21),
        ("0 0 1 * *", 1),
        ("0 0 31 * *", 0),
        ("0 0 1,15 * *", 2),
        ("0 */6 * * *", 120),
        ("*/15 3 * * *", 120),
        ("20/15 3 * * *", 90),
        ("5-20/5 3 * * *", 120),
        ("0 3 * DEC *", 0),
        ("0 3 * NOV,DEC *", 30),
        ("0 3 * 1-11/2 *", 30),
        ("0 3 1 * MON", 6),
        ("0 3 1 * 0", 5),
        ("* * * * *", 12 * 24 * 30),
        ("0 3 29 2 *", 0),
    ],
)
def test_counts_what_each_kind_of_field_means(text: str, strikes: int) -> None:
    assert in_november(text) == strikes


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "five fields"),
        ("41 3 * *", "five fields"),
        ("0 41 3 * * *", "five fields"),
        ("@daily", "no such names"),
        ("60 * * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 0 0 * *", "day of the month"),
        ("0 0 * 13 *", "month"),
        ("0 0 * * 7", "day of the week"),
        ("0 0 * * MONDAY", "day of the week"),
        ("0 0 * MON *", "month"),
        ("0 0 * * FRI-MON", "ends before"),
        ("*/0 * * * *", "step"),
        ("*/x * * * *", "step"),
        ("*/ * * * *", "step"),
        ("-5 * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("0 0 L * *", "day of the month"),
        ("0 0 * * 1#2", "day of the week"),
        ("? * * * *", "minute"),
        ("\u0663 * * * *", "minute"),
        ("1" * 300, "too long"),
    ],
)
def test_refuses_with_the_field_that_it_cannot_read(text: str, why: str) -> None:
    found = parse_cron(text)
    assert isinstance(found, Unreadable)
    assert why in found.why


def test_either_day_matches_where_both_are_restricted() -> None:
    assert read("0 0 13 * 5").strikes_on(datetime(2026, 11, 13, tzinfo=timezone.utc))
    assert read("0 0 13 * 5").strikes_on(datetime(2026, 11, 20, tzinfo=timezone.utc))
    assert not read("0 0 13 * *").strikes_on(datetime(2026, 11, 20, tzinfo=timezone.utc))


def test_counts_only_what_is_still_to_come() -> None:
    at = datetime(2026, 11, 20, 3, 41, tzinfo=timezone.utc)
    assert read("41 3 * * *").strikes(at, DECEMBER) == 10
    assert read("41 3 * * *").strikes(at - timedelta(seconds=1), DECEMBER) == 11


def test_busiest_month_is_found() -> None:
    assert most_in_a_month(read("41 3 * * *"), NOVEMBER) == 31
    assert most_in_a_month(read("0 3 29 2 *"), NOVEMBER) == 0
    assert most_in_a_month(read("0 0 1 * *"), NOVEMBER) == 1


def test_year_turns() -> None:
    assert month_after(datetime(2026, 12, 31, 23, 59, tzinfo=timezone.utc)) == datetime(2027, 1, 1, tzinfo=timezone.utc)


numbers = st.integers(0, 59)


@settings(max_examples=60, deadline=None)
@given(st.sets(numbers, min_size=1, max_size=12), st.sets(st.integers(0, 23), min_size=1), st.integers(0, 30 * 24 * 60))
def test_strikes_before_and_after_a_moment_add_up(minutes: set[int], hours: set[int], offset: int) -> None:
    cron = read(f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *")
    middle = NOVEMBER + timedelta(minutes=offset, seconds=30)
    begin = NOVEMBER - timedelta(seconds=1)
    whole = cron.strikes(begin, DECEMBER)
    assert whole == len(minutes) * len(hours) * 30
    assert cron.strikes(begin, middle) + cron.strikes(middle, DECEMBER) == whole


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(parse_cron(text), Cron | Unreadable)
