from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.smoke_cost import read_schedule, run_usd, smoke_lease
from tests.golden.cases import A40, A100, candidate

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


def test_machine_lives_for_every_phase_of_a_run() -> None:
    policy, box = Policy(), timedelta(minutes=15)
    boxes = policy.timeouts
    phases = 2 * boxes.provision + boxes.setup + boxes.validate + box + timedelta(minutes=10)
    assert smoke_lease(box, policy) == phases
    assert smoke_lease(timedelta(days=9), policy) == policy.max_lease


def test_run_costs_every_machine_of_the_matrix() -> None:
    cheap, dear = candidate(A40), candidate(A100)
    assert run_usd([cheap], HOUR) == cheap.price_usd_per_hour
    assert run_usd([cheap, dear, dear], HOUR) == cheap.price_usd_per_hour + 2 * dear.price_usd_per_hour


def test_unknown_price_is_never_nothing() -> None:
    cheap = candidate(A40)
    free = Candidate(A40, Decimal(0), Decimal(0), "")
    assert run_usd([cheap, None], HOUR) is None
    assert run_usd([cheap, free], HOUR) is None
    assert run_usd([], HOUR) is None


def test_schedule_says_a_month_and_what_is_left_of_this_one() -> None:
    found = read_schedule("41 3 * * *", NOW)
    assert (found.runs_a_month, found.runs_left, found.why) == (31, 10, "")


def test_schedule_that_cannot_be_read_has_no_figures() -> None:
    for text, why in (("@nightly", "no such names"), ("0 3 30 2 *", "none of the next twelve months")):
        found = read_schedule(text, NOW)
        assert (found.runs_a_month, found.runs_left) == (None, None)
        assert why in found.why
