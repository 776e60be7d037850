"""Until when a wait for a machine is worth it, and when it asks again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.waiting import WaitBounds, Waiting, job_ends_at, next_round

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("lease_hours", "patience_hours", "job_hours", "minutes", "bound"),
    [
        (4, 1, None, 60, "policy"),
        (1, 1, None, 30, "lease"),
        (4, 9, None, 120, "lease"),
        (8, 9, 2, 120, "job"),
    ],
)
def test_the_first_bound_ends_a_wait(
    lease_hours: int, patience_hours: int, job_hours: int | None, minutes: int, bound: str
) -> None:
    job_until = NOON + job_hours * HOUR if job_hours else None
    bounds = WaitBounds(NOON, lease_hours * HOUR, patience_hours * HOUR, job_until)
    assert bounds.end() == (NOON + timedelta(minutes=minutes), bound)


def test_pauses_grow_to_five_minutes_and_stay_there() -> None:
    bounds, now, waiting, pauses = WaitBounds(NOON, 8 * HOUR, HOUR), NOON, None, []
    while (waiting := next_round(waiting, bounds, now)) is not None:
        pauses.append((waiting.next_at - now) // timedelta(minutes=1))
        now = waiting.next_at
    assert pauses == [1, 2, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 3]
    assert now == NOON + HOUR


@given(
    lease=st.timedeltas(timedelta(minutes=5), timedelta(hours=12)),
    patience=st.timedeltas(timedelta(minutes=1), timedelta(hours=12)),
    round_takes=st.timedeltas(timedelta(0), timedelta(hours=1)),
)
def test_no_wait_leaves_less_than_half_of_the_lease_or_goes_on_for_ever(
    lease: timedelta, patience: timedelta, round_takes: timedelta
) -> None:
    bounds, now, waiting, rounds = WaitBounds(NOON, lease, patience), NOON, None, 0
    while (newer := next_round(waiting, bounds, now)) is not None:
        rounds += 1
        assert newer.rounds == rounds
        assert NOON <= newer.since <= now < newer.next_at <= newer.until <= NOON + min(lease / 2, patience)
        waiting, now = newer, newer.next_at + round_takes
    assert rounds <= 2 + patience / timedelta(minutes=1)


@pytest.mark.parametrize(("text", "ends"), [("", None), ("soon", None), ("-5", None), ("120", NOON + 2 * HOUR)])
def test_the_end_of_a_job_is_known_only_where_its_workflow_tells_it(text: str, ends: datetime | None) -> None:
    assert job_ends_at(NOON, text) == ends


def test_a_wait_that_was_begun_keeps_its_beginning() -> None:
    begun = Waiting(NOON, NOON + HOUR, "policy", 3, NOON)
    later = next_round(begun, WaitBounds(NOON, 8 * HOUR, HOUR), NOON + timedelta(minutes=7))
    assert later is not None
    assert (later.since, later.rounds) == (NOON, 4)
