from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.environment import (
    Attempt,
    Bill,
    Check,
    CheckStatus,
    EnvironmentRecord,
    Lease,
    PhaseTime,
    Requester,
    SshEndpoint,
    State,
    Tombstone,
)
from gpu_lol_action.domain.environment_json import (
    SCHEMA,
    Page,
    UnreadableRecord,
    first_page,
    page_from_json,
    page_to_json,
)
from tests.support.records import claimed

START = datetime(2026, 11, 20, 16, 0, tzinfo=timezone.utc)
MOMENTS = st.timedeltas(timedelta(0), timedelta(days=20_000)).map(lambda span: START + span)
MONEY = st.decimals(min_value=0, max_value=10_000, places=4, allow_nan=False)
TEXT = st.text(max_size=20)


def maybe(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


RECORDS = st.builds(
    EnvironmentRecord,
    name=TEXT,
    state=st.sampled_from(State),
    repository=TEXT,
    repository_id=st.integers(0, 2**53),
    pull_request=maybe(st.integers(1, 10**6)),
    profile=TEXT,
    sha=TEXT,
    requester=st.builds(Requester, TEXT, maybe(st.integers(0, 2**40))),
    run_id=TEXT,
    claimed_at=MOMENTS,
    lease=st.builds(Lease, MOMENTS, MOMENTS),
    updated_at=MOMENTS,
    user_hash=TEXT,
    use_spot=st.booleans(),
    price_usd_per_hour=maybe(MONEY),
    provider_config=st.dictionaries(TEXT, TEXT, max_size=3),
    ssh=maybe(st.builds(SshEndpoint, TEXT, st.integers(1, 65535), TEXT, maybe(TEXT))),
    attempts=st.lists(
        st.builds(Attempt, TEXT, TEXT, st.integers(1, 8), MONEY, TEXT, TEXT, st.floats(0, 1e6), maybe(TEXT)), max_size=3
    ).map(tuple),
    phases=st.lists(st.builds(PhaseTime, TEXT, st.floats(0, 1e6)), max_size=2).map(tuple),
    checks=st.lists(st.builds(Check, TEXT, st.sampled_from(CheckStatus), TEXT, TEXT, st.booleans()), max_size=2).map(
        tuple
    ),
    packages=st.lists(TEXT, max_size=2).map(tuple),
    tombstone=maybe(st.builds(Tombstone, TEXT, TEXT, MOMENTS)),
    absences=st.lists(MOMENTS, max_size=2).map(tuple),
    bill=maybe(st.builds(Bill, MOMENTS, MOMENTS, MONEY, MONEY)),
    closed_at=maybe(MOMENTS),
    earlier_cost_usd=MONEY,
)


def make_record(**changes: object) -> EnvironmentRecord:
    return claimed(START, name="gl-a-1", repository="acme/llm-lab", repository_id=1, run_id="1", **changes)


def closed(usd: str, *, claimed_at: datetime = START) -> EnvironmentRecord:
    at = claimed_at + timedelta(hours=1)
    bill = Bill(claimed_at, at, Decimal("2.49"), Decimal(usd))
    return make_record(state=State.CLOSED, claimed_at=claimed_at, closed_at=at, bill=bill)


def altered(change: dict[str, object], place: str = "record") -> str:
    raw = json.loads(page_to_json(first_page(make_record())))
    (raw[place] if place else raw).update(change)
    return json.dumps(raw)


@given(RECORDS)
def test_every_record_survives_the_round_trip(record: EnvironmentRecord) -> None:
    page = first_page(record)
    text = page_to_json(page)

    assert page_from_json(text) == page
    assert page_to_json(page_from_json(text)) == text


def test_unknown_keys_of_a_newer_writer_are_passed_over() -> None:
    text = altered({"mood": "fine"})

    assert page_from_json(text) == first_page(make_record())


def test_keys_that_an_older_writer_did_not_know_take_their_default() -> None:
    raw = json.loads(page_to_json(first_page(make_record())))
    del raw["record"]["earlier_cost_usd"], raw["bills"]

    assert page_from_json(json.dumps(raw)) == Page(make_record(), ())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "sleeping"}, "record.state: 'sleeping' is no State"),
        ({"claimed_at": "2026-11-20T16:00:00"}, "record.claimed_at: '2026-11-20T16:00:00' is no datetime"),
        ({"claimed_at": 5}, "record.claimed_at: '5' is no datetime"),
        ({"price_usd_per_hour": "NaN"}, "record.price_usd_per_hour: 'NaN' is no Decimal"),
        ({"price_usd_per_hour": 2.49}, "record.price_usd_per_hour: '2.49' is no Decimal"),
        ({"repository_id": True}, "record.repository_id: 'True' is no int"),
        ({"lease": {"starts_at": "2026-11-20T16:00:00Z"}}, "record.lease.expires_at: missing"),
        ({"lease": None}, "record.lease: not an object"),
        ({"attempts": {}}, "record.attempts: not a list"),
        ({"absences": ["x"]}, "record.absences[0]: 'x' is no datetime"),
        ({"provider_config": {"region": 5}}, "record.provider_config.region: '5' is no str"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(change: dict[str, object], why: str) -> None:
    with pytest.raises(UnreadableRecord) as caught:
        page_from_json(altered(change))
    assert str(caught.value) == why


@pytest.mark.parametrize("schema", [0, -1, "1", None, True, SCHEMA + 1])
def test_other_schema_is_not_guessed_at(schema: object) -> None:
    with pytest.raises(UnreadableRecord, match="schema"):
        page_from_json(altered({"schema": schema}, place=""))


def test_bills_of_all_lives_are_carried_along() -> None:
    later = START + timedelta(days=1)
    page = first_page(make_record()).followed_by(closed("3.40"))
    page = page.followed_by(make_record(claimed_at=later))
    page = page.followed_by(closed("1.00", claimed_at=later))
    # Written again after it was closed, with a corrected bill: it replaces the one of the same life.
    page = page.followed_by(closed("1.25", claimed_at=later))

    assert [bill.usd for bill in page.bills] == [Decimal("3.40"), Decimal("1.25")]
    assert page_from_json(page_to_json(page)) == page
