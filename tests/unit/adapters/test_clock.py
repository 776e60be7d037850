from __future__ import annotations

from datetime import datetime, timedelta, timezone

from gpu_lol_action.adapters.clock import SystemClock


def test_now_is_aware_in_utc_and_goes_on() -> None:
    clock = SystemClock()
    before = datetime.now(timezone.utc)

    assert before <= clock.now() <= datetime.now(timezone.utc)
    assert clock.now().utcoffset() == timedelta(0)


def test_sleep_does_not_wait_for_a_time_that_has_passed() -> None:
    SystemClock().sleep(timedelta(days=-1))
