"""The month by person and pull request: shares add up to what the spending gate sees, whatever the ledger holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.environment import Requester, State
from gpu_lol_action.domain.environment_json import ClosedBill
from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.pricing.budget import Spending, is_notice_due, month_start, spending
from gpu_lol_action.pricing.month import UNNAMED, month_report
from tests.unit.pricing.test_budget import START, record

NOW = START + timedelta(minutes=30)


def bill(usd: str, login: str = "", days_ago: int = 1) -> ClosedBill:
    return ClosedBill(NOW - timedelta(days=days_ago, hours=2), NOW - timedelta(days=days_ago), Decimal(usd), login)


def test_each_life_of_a_name_counts_for_who_had_it() -> None:
    ours = record(requester=Requester("bob"), pull_request=12)
    found = month_report(
        Survey((Entry(ours, "1"),), {ours.name: (bill("2.00", "ada"), bill("0.50"), bill("9.00", "ada", 40))}),
        Policy(),
        NOW,
    )
    people = {share.key: (share.spent_usd, share.promised_usd, share.running) for share in found.people}
    assert people == {
        "ada": (Decimal("2.00"), Decimal("0.00"), 0),
        "bob": (Decimal("0.50"), Decimal("1.50"), 1),
        UNNAMED: (Decimal("0.50"), Decimal("0.00"), 0),
    }
    assert [(share.key, share.spent_usd) for share in found.pull_requests] == [("12", Decimal("3.00"))]


def test_bill_without_a_name_is_the_records_where_it_is_of_that_life() -> None:
    closed = record(state=State.CLOSED, requester=Requester("bob"), claimed_at=bill("1").claimed_at)
    assert (
        month_report(Survey((Entry(closed, "1"),), {closed.name: (bill("1.00"),)}), Policy(), NOW).people[0].key
        == "bob"
    )


def test_record_that_cannot_be_read_keeps_its_bills() -> None:
    held = UnreadableEntry("gl-a-9", "1", "no JSON")
    found = month_report(Survey((held,), {"gl-a-9": (bill("3.00", "ada"),)}), Policy(), NOW)
    assert found.unreadable == ("gl-a-9",)
    assert found.total.month_usd == Decimal("3.00")
    assert [share.key for share in found.pull_requests] == [UNNAMED]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ada", "bob", ""]), st.integers(0, 5000), st.integers(0, 60), st.sampled_from([1, 2, 3])
        ),
        max_size=12,
    ),
    st.lists(
        st.tuples(st.sampled_from(["ada", "eve"]), st.sampled_from([1, 2, 3, None]), st.integers(0, 90)), max_size=4
    ),
)
def test_shares_add_up_to_what_the_gate_counts(
    bills: list[tuple[str, int, int, int]], open_ones: list[tuple[str, int | None, int]]
) -> None:
    by_name: dict[str, tuple[ClosedBill, ...]] = {}
    for login, cents, days, number in bills:
        name = f"gl-a-{number}"
        by_name[name] = (*by_name.get(name, ()), bill(str(Decimal(cents) / 100), login, days))
    entries = [
        Entry(replace(record(), name=f"gl-b-{place}", requester=Requester(login), pull_request=number,
                      launch_asked_at=NOW - timedelta(minutes=minutes)), "1")
        for place, (login, number, minutes) in enumerate(open_ones)
    ]  # fmt: skip
    survey, policy = Survey(tuple(entries), by_name), Policy()
    found = month_report(survey, policy, NOW)
    assert found.total == spending(survey.bills_usd(month_start(NOW)), survey.open_records, policy, NOW)
    for shares in (found.people, found.pull_requests):
        assert sum(share.spent_usd for share in shares) == found.total.month_usd
        assert sum(share.promised_usd for share in shares) == found.total.committed_usd
        assert sum(share.running for share in shares) == len(open_ones)


def test_notice_is_due_from_four_fifths_on_and_once_a_month() -> None:
    below, at = (Spending(Decimal(spent), Decimal("10"), Decimal("50")) for spent in ("29.99", "30.00"))
    assert not is_notice_due(below, [], NOW)
    assert is_notice_due(at, [record()], NOW)
    assert not is_notice_due(at, [record(budget_noticed_at=NOW - timedelta(days=3))], NOW)
    assert is_notice_due(at, [record(budget_noticed_at=NOW - timedelta(days=30))], NOW)
