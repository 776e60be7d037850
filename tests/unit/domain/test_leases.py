from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, State, Warned
from gpu_lol_action.domain.leases import WARN_BEFORE, End, Keep, Warn, decide_lease
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.domain.policy import Policy
from tests.support.records import claimed

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)
POLICY = Policy()
CLEAN, DIRTY = Look(timedelta(0), 0, 0, 0), Look(timedelta(0), 1, 0, 0)
RECORD = claimed(
    NOW - timedelta(hours=1),
    name="gl-5-12",
    state=State.READY,
    lease=Lease(NOW - timedelta(hours=1), NOW + timedelta(hours=4)),
    updated_at=NOW,
)


def unused(look: Look, minutes: float) -> Look:
    return replace(look, idle=timedelta(minutes=minutes))


def ending_in(minutes: float, **changes: object) -> EnvironmentRecord:
    lease = replace(RECORD.lease, expires_at=NOW + timedelta(minutes=minutes))
    return replace(RECORD, lease=lease, **changes)  # type: ignore[arg-type]  # keyword bag of a test helper


@pytest.mark.parametrize("look", [None, CLEAN, DIRTY])
def test_a_lease_with_time_left_and_in_use_is_kept(look: Look | None) -> None:
    assert decide_lease(RECORD, look, POLICY, NOW) == Keep()


@pytest.mark.parametrize("state", [State.READY, State.VALIDATING, State.UNKNOWN])
def test_a_lease_that_is_over_ends_also_while_somebody_works(state: State) -> None:
    assert decide_lease(ending_in(0, state=state), DIRTY, POLICY, NOW) == End("lease_over")


@pytest.mark.parametrize(("minutes", "is_warned"), [(1, True), (30, True), (90, True), (91, False)])
def test_who_would_be_told_too_late_by_the_next_sweep_is_told_now(minutes: float, is_warned: bool) -> None:
    record = ending_in(minutes)
    expected = Warn("lease", record.lease.expires_at) if is_warned else Keep()
    assert decide_lease(record, CLEAN, POLICY, NOW) == expected


def test_an_end_is_told_once_and_a_later_one_anew() -> None:
    told = ending_in(60, warned=Warned("lease", NOW + timedelta(minutes=60), NOW - timedelta(minutes=5)))
    assert decide_lease(told, CLEAN, POLICY, NOW) == Keep()
    extended = replace(told, lease=replace(told.lease, expires_at=NOW + timedelta(minutes=80)))
    assert decide_lease(extended, CLEAN, POLICY, NOW) == Warn("lease", NOW + timedelta(minutes=80))


def test_an_unused_machine_on_which_nothing_would_be_lost_ends_at_the_policys_time() -> None:
    assert decide_lease(RECORD, unused(CLEAN, 59), POLICY, NOW) == Keep()
    assert decide_lease(RECORD, unused(CLEAN, 60), POLICY, NOW) == End("idle")


@pytest.mark.parametrize("look", [DIRTY, Look(None, None, None, None), Look(None, 0, 0, 1), Look(None, 0, 2, 0)])
def test_unsaved_work_gets_a_warning_and_half_an_hour(look: Look) -> None:
    warn = decide_lease(RECORD, unused(look, 70), POLICY, NOW)
    assert warn == Warn("idle", NOW + WARN_BEFORE)
    warned = replace(RECORD, warned=Warned("idle", NOW + WARN_BEFORE, NOW))
    assert decide_lease(warned, unused(look, 80), POLICY, NOW + timedelta(minutes=10)) == Keep()
    assert decide_lease(warned, unused(look, 100), POLICY, NOW + WARN_BEFORE) == End("idle")


def test_a_machine_that_was_used_after_the_warning_is_warned_about_anew() -> None:
    warned = replace(RECORD, warned=Warned("idle", NOW - timedelta(hours=2), NOW - timedelta(hours=2, minutes=30)))
    assert decide_lease(warned, unused(DIRTY, 61), POLICY, NOW) == Warn("idle", NOW + WARN_BEFORE)


@pytest.mark.parametrize("look", [None, replace(CLEAN, idle=None)])
def test_what_cannot_be_told_counts_as_used(look: Look | None) -> None:
    assert decide_lease(RECORD, look, POLICY, NOW) == Keep()


def test_a_machine_on_its_way_is_never_unused() -> None:
    assert decide_lease(replace(RECORD, state=State.VALIDATING), unused(CLEAN, 99), POLICY, NOW) == Keep()
