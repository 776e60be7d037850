from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware
from gpu_lol_action.pricing.budget import compare_to_base, month_start, spending, sweep_gap, worst_case
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.proposal import with_cheapest_card
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers

START = datetime(2026, 11, 20, 16, 0, tzinfo=timezone.utc)
LEASE = Lease(START, START + timedelta(hours=2))


def record(**more: object) -> EnvironmentRecord:
    base = EnvironmentRecord("gl-a-1", State.READY, "o/r", 1, 1, "", "a" * 40, Requester("ann"), "1", START, LEASE, START, "abcd1234",
                             price_usd_per_hour=Decimal("1.00"), launch_asked_at=START)  # fmt: skip
    return replace(base, **more)  # type: ignore[arg-type]  # test data


def analysis(gib: int, length: str) -> tuple[Analysis, Ladder]:
    found = Finding(
        "training.sequence_length", length, "`max_seq_length` is set", Confidence.HIGH, Evidence("train.py", 88)
    )
    beside = Finding("dependencies.requirements", f"torch=={length}", "", Confidence.HIGH, Evidence("r.txt", 1))
    spec = EnvironmentSpec(Hardware(vram_required_gb=gib))
    requirement = requirement_from(spec, Policy())
    ladder = rank_candidates(RankRequest(requirement, bundled_offers(), SNAPSHOT, timedelta(hours=2)))  # type: ignore[arg-type]  # a known spec
    return Analysis(spec, spec, None, (found, beside), (), (), None, 1, 0), ladder


def test_worst_case_is_lease_and_one_more_sweep() -> None:
    gap = sweep_gap(START - timedelta(minutes=40), Policy(), START)
    found = worst_case(Decimal("1.39"), LEASE, Policy(), gap)
    assert found.ends_by == datetime(2026, 11, 20, 19, 7, tzinfo=timezone.utc)
    assert found.usd == Decimal("4.34")  # 3 h 7 min at $1.39, rounded up


def test_worst_case_expects_the_next_sweep_no_sooner_than_the_last_one_is_old() -> None:
    """An `up` is let through up to 26 hours after the last sweep: what it promises then must hold all the same."""
    gap = sweep_gap(START - timedelta(hours=20), Policy(), START)
    found = worst_case(Decimal("1.39"), LEASE, Policy(), gap)
    assert found.ends_by == LEASE.expires_at + timedelta(hours=20, minutes=7)
    assert found.usd == Decimal("30.75")  # 22 h 7 min


@pytest.mark.parametrize("swept_at", [None, START - timedelta(hours=27)])
def test_where_nothing_is_known_to_sweep_the_worst_case_says_so(swept_at: datetime | None) -> None:
    assert sweep_gap(swept_at, Policy(), START) is None
    assert worst_case(Decimal("1.39"), LEASE, Policy(), None).sweep_gap is None


def test_spending_counts_bills_running_machines_and_what_they_still_promise() -> None:
    now = START + timedelta(minutes=30)
    closed = record(state=State.CLOSED)
    waiting = record(launch_asked_at=None)
    found = spending(Decimal("10.00"), [record(), closed, waiting], Policy(), now)
    assert found.month_usd == Decimal("10.50")
    assert found.committed_usd == Decimal("3.00")
    assert found.left_usd == Decimal("36.50")
    assert spending(Decimal("99"), [], Policy(), now).left_usd == Decimal("0.00")


def test_month_start() -> None:
    assert month_start(START) == datetime(2026, 11, 1, tzinfo=timezone.utc)


def test_compare_to_base_names_the_decisive_finding() -> None:
    found = compare_to_base(analysis(20, "1024"), analysis(46, "4096"))
    assert (found.memory_before_gib, found.memory_after_gib) == (20, 46)
    assert found.before is not None
    assert found.after is not None
    assert (found.before.offer.accelerator, found.after.offer.accelerator) == ("RTXA4500", "A40")
    assert found.usd_per_hour == Decimal("0.19")
    assert found.percent == Decimal(76)
    assert [(c.field, c.before, c.after, str(c.finding.evidence)) for c in found.causes] == [
        ("training.sequence_length", "1024", "4096", "train.py:88")
    ]
    assert found.is_change


def test_compare_to_base_without_change() -> None:
    found = compare_to_base(analysis(21, "1024"), analysis(22, "1024"))
    assert not found.is_change
    assert found.causes == ()


def test_compare_to_base_where_nothing_fits_any_more() -> None:
    found = compare_to_base(analysis(20, "1024"), analysis(900, "1024"))
    assert found.after is None
    assert found.percent is None


def test_with_cheapest_card_fills_only_what_is_open() -> None:
    spec = EnvironmentSpec(Hardware(vram_required_gb=40), profiles={"p": EnvironmentSpec(Hardware("H100", 1, 60))})
    found = with_cheapest_card(Analysis(spec, spec, None, (), (), (), None, 1, 0)).spec
    assert found.hardware.gpu_type == "A40"
    assert found.hardware.alternatives[0] == "RTXA6000"
    assert found.profiles["p"].hardware.gpu_type == "H100"
    huge = EnvironmentSpec(Hardware(vram_required_gb=900))
    assert with_cheapest_card(Analysis(huge, huge, None, (), (), (), None, 1, 0)).spec == huge
