"""``extend``: the ledger and the machine agree on the end afterwards, or nothing has changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.environment import Requester, State, Tombstone
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.extend import handle_extend
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.teardown import write_tombstone
from tests.support.hands import START, ScriptedShell
from tests.support.machine import nonce_of
from tests.unit.handlers.conftest import POLICY, Bench

END = START + timedelta(hours=2)


@pytest.fixture
def bench(bench: Bench) -> Iterator[Bench]:
    bench.shell = ScriptedShell([("watcher=", _obeys)])
    yield bench
    bench.assert_nothing_bills_unnoticed()


def _obeys(script: str) -> RemoteOutput:
    return RemoteOutput(0, f"::gpu-lol-lease {nonce_of(script)} done\n", "")


def extend(bench: Bench, hours: float = 1, **changes: object) -> Outcome:
    order = bench.order(f"/gpu-lol extend {hours}h", lease=timedelta(hours=hours), **changes)
    return handle_extend(bench.context, order)


def told_seconds(bench: Bench) -> list[int]:
    assert isinstance(bench.shell, ScriptedShell)
    found = (re.search(r"^left_seconds=(\d+)$", script, re.MULTILINE) for script in bench.shell.scripts)
    return [int(each[1]) for each in found if each]


def test_the_end_moves_in_the_ledger_and_on_the_machine(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(minutes=30)
    outcome = extend(bench)
    assert outcome.reason_code == "extended"
    assert bench.record.lease.expires_at == END + timedelta(hours=1)
    assert bench.record.lease.starts_at == START
    assert told_seconds(bench) == [2 * 3600 + 1800]
    assert "15:00" in bench.texts[-1]
    assert "14:00" in bench.texts[-1]


def test_without_a_duration_it_is_an_hour(bench: Bench) -> None:
    bench.running()
    handle_extend(bench.context, bench.order("/gpu-lol extend"))
    assert bench.record.lease.expires_at == END + timedelta(hours=1)


@pytest.mark.parametrize(
    ("hours", "changes", "reason_code"),
    [
        (10.5, {}, "lease_out_of_bounds"),
        (1, {"month_usd": Decimal("0.90")}, "budget_exceeded"),
    ],
)
def test_what_the_policy_does_not_allow_changes_nothing(
    bench: Bench, hours: float, changes: dict[str, object], reason_code: str
) -> None:
    bench.running()
    outcome = extend(bench, hours, policy=replace(POLICY, **changes))  # type: ignore[arg-type]  # keyword bag
    assert (outcome.decision, outcome.reason_code) == ("denied", reason_code)
    assert bench.record.lease.expires_at == END
    assert not told_seconds(bench)


def test_a_lease_that_would_be_too_long_says_how_much_may_be_had(bench: Bench) -> None:
    bench.running()
    assert "/gpu-lol extend 600m" in extend(bench, 11).text


def test_a_silent_sweeper_allows_no_more_time(bench: Bench) -> None:
    bench.running()
    bench.ledger.note_sweep(START - timedelta(days=3))
    assert extend(bench).reason_code == "sweeper_silent"


@pytest.mark.parametrize("state", [State.LAUNCHING, State.VALIDATING])
def test_a_machine_on_its_way_has_no_lease_to_extend(bench: Bench, state: State) -> None:
    bench.running(state)
    assert extend(bench).reason_code == "not_extendable"


def test_a_machine_that_is_being_ended_is_not_revived(bench: Bench) -> None:
    write_tombstone(bench.context, bench.running(), Tombstone("bob", "down", START))
    assert extend(bench).reason_code == "not_extendable"
    assert bench.record.state is State.ENDING


def test_a_lease_that_is_over_is_not_revived(bench: Bench) -> None:
    bench.running()
    bench.clock.at = END
    assert extend(bench).reason_code == "not_extendable"


def test_no_machine_is_said(bench: Bench) -> None:
    assert extend(bench).reason_code == "nothing_running"


@pytest.mark.parametrize(
    "answer", [None, lambda script: RemoteOutput(1, f"::gpu-lol-lease {nonce_of(script)} failed no room\n", "")]
)
def test_a_machine_that_cannot_be_told_keeps_its_old_end_everywhere(
    bench: Bench, answer: Callable[[str], RemoteOutput] | None
) -> None:
    bench.running()
    bench.shell = ScriptedShell([("watcher=", answer)] if answer else [])
    with pytest.raises(TransientError) as caught:
        extend(bench)
    assert caught.value.reason_code == "machine_not_told"
    assert bench.record.lease.expires_at == END, "its own timer would end it then, whatever a comment says"


def test_a_race_is_decided_anew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = bench.running()
    bench.let_bob_be_first(entry, monkeypatch)
    assert extend(bench).reason_code == "not_extendable"
    assert not told_seconds(bench)


def test_the_step_without_the_cloud_leaves_it_to_the_next(bench: Bench) -> None:
    bench.running()
    assert obey(bench.context, bench.order("/gpu-lol extend"), may_use_cloud=False).decision == "deferred"
    assert bench.record.lease.expires_at == END


def test_a_dear_machine_gets_more_time_from_a_second_person_alone(bench: Bench) -> None:
    bench.running()
    dear = replace(POLICY, confirm_above_usd_per_hour=Decimal("0.40"))
    bench.forge.roles |= {"ada": "admin", "grace": "maintain", "bob": "write"}
    order = bench.order("/gpu-lol extend 1h", policy=dear, lease=timedelta(hours=1))
    for person in (Requester("ada", 7), Requester("ada-renamed", 7), Requester("bob", 9)):
        assert handle_extend(bench.context, replace(order, requester=person)).reason_code == "confirmation_required"
    assert bench.record.lease.expires_at == END
    assert handle_extend(bench.context, replace(order, requester=Requester("grace", 8))).reason_code == "extended"
