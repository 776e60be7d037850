from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.render import formats

NOW = datetime(2026, 11, 20, 14, 7, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("amount", "text"), [("2.78", "$2.78"), ("50", "$50"), ("3", "$3.00"), ("0", "$0.00"), ("11.2", "$11.20")]
)
def test_usd(amount: str, text: str) -> None:
    assert formats.usd(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("price", "text"), [("1.39", "$1.39/h"), ("0.204", "$0.204/h"), ("3", "$3.00/h"), ("0.1999", "$0.20/h")]
)
def test_usd_per_hour_shows_a_third_place_only_where_there_is_one(price: str, text: str) -> None:
    assert formats.usd_per_hour(Decimal(price)) == text


def test_differences_carry_their_sign() -> None:
    assert formats.usd_per_hour_difference(Decimal("0.95")) == "+$0.95/h"
    assert formats.usd_per_hour_difference(Decimal("-0.95")) == "\u2212$0.95/h"
    assert formats.percent_difference(Decimal("0.44"), Decimal("1.39")) == "+216 %"
    assert formats.percent_difference(Decimal(0), Decimal("1.39")) == ""


def test_sizes() -> None:
    assert formats.gib(41.15) == "41.1 GiB"
    assert formats.gib_range(36.6, 46.2) == "37–46"
    assert formats.gib_range(0.4, 0.6) == "0.4–0.6"


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (timedelta(hours=1, minutes=58), "16:05 UTC (in 1 h 58 min)"),
        (timedelta(minutes=-12), "13:55 UTC (12 min ago)"),
        (timedelta(seconds=20), "14:07 UTC (now)"),
        (timedelta(days=1), "21 Nov 2026 14:07 UTC (in 1 d)"),
    ],
)
def test_clock_in_says_when_and_how_long(distance: timedelta, text: str) -> None:
    assert formats.clock_in(NOW + distance, NOW) == text


def test_clock_is_utc_whatever_the_zone() -> None:
    assert formats.clock(NOW.astimezone(timezone(timedelta(hours=9))), NOW) == "14:07 UTC"


def test_words() -> None:
    assert formats.day(date(2026, 3, 1)) == "1 Mar 2026"
    assert formats.plural(1, "package") == "1 package"
    assert formats.plural(2, "entry", "entries") == "2 entries"
    assert formats.hours_label(timedelta(hours=2)) == "2-hour"
    assert formats.hours_label(timedelta(minutes=90)) == "90-minute"
    assert formats.seconds(9.4) == "9.4 s"
    assert formats.seconds(192) == "3 min 12 s"
    assert formats.cloud_name("RUNPOD") == "RunPod"
    assert formats.cloud_name("nebula") == "nebula"


def test_bar_is_in_eighths_and_never_vanishes() -> None:
    assert formats.bar(1.0, 4) == "████"
    assert formats.bar(0.5, 1) == "▌"
    assert formats.bar(0.0001, 4) == "▏"
    assert formats.bar(0, 4) == ""
    assert formats.bar(7.0, 2) == "██"
