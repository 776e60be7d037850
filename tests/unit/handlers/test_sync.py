"""``sync``: the machine first, then the record; work that is in the way is said, and nothing changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.environment import EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Allow, Command, Deny, Outcome
from gpu_lol_action.errors import LostRace, TransientError
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.intake.gates import Authority, IdentityFacts, identity_gate
from gpu_lol_action.launch.code import KEPT
from tests.support.hands import HEAD, START, pull_request
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

NEW = "def5678" + "0" * 33


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.shell = GoodMachine()
    bench.forge.pull = pull_request(head_sha=NEW)
    return bench


def give(bench: Bench) -> Outcome:
    return obey(bench.context, bench.order("/gpu-lol sync"), may_use_cloud=True)


def machine(bench: Bench) -> GoodMachine:
    assert isinstance(bench.shell, GoodMachine)
    return bench.shell


def test_new_head_is_on_the_record(bench: Bench) -> None:
    bench.running()
    outcome = give(bench)
    assert (outcome.decision, outcome.reason_code) == ("done", "synced")
    assert bench.record.sha == NEW
    assert machine(bench).kinds == ["sync"]
    assert "`def5678`, not `abc1234` any more" in outcome.text
    assert "runs at $0.44/h" in outcome.text


def test_same_head_asks_the_machine_nothing(bench: Bench) -> None:
    bench.running(sha=NEW)
    assert "already" in give(bench).text
    assert machine(bench).kinds == []


@pytest.mark.parametrize("of", sorted(KEPT))
def test_work_in_the_way_is_said_and_nothing_changes(bench: Bench, of: str) -> None:
    before = bench.running().record
    machine(bench).instead["sync"] = lambda nonce: f"::gpu-lol-code {nonce} kept {of} 3\n::gpu-lol-code {nonce} done\n"
    outcome = give(bench)
    assert (outcome.decision, outcome.reason_code) == ("denied", "unsaved_work")
    assert "nothing was touched" in outcome.text
    assert bench.record == before


@pytest.mark.parametrize(
    "said", ["", "tree " + "e" * 40 + "\nhead " + NEW + "\ndone", "kept everything 3\nfailed no room", "failed no room"]
)
def test_code_that_is_not_proven_is_not_on_the_record(bench: Bench, said: str) -> None:
    bench.running()
    machine(bench).instead["sync"] = lambda nonce: "".join(
        f"::gpu-lol-code {nonce} {line}\n" for line in said.splitlines()
    )
    with pytest.raises(TransientError) as caught:
        give(bench)
    assert caught.value.reason_code == "code_not_shipped"
    assert bench.record.sha == HEAD


def test_race_with_an_extension_keeps_both(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = bench.running()
    update = bench.ledger.update

    def lose_once(entry_now: Entry, record: EnvironmentRecord) -> Entry:
        monkeypatch.setattr(bench.ledger, "update", update)
        update(entry, replace(entry.record, shared=("grace",)))
        raise LostRace("record_changed", "somebody was first")

    monkeypatch.setattr(bench.ledger, "update", lose_once)
    assert give(bench).reason_code == "synced"
    assert (bench.record.sha, bench.record.shared) == (NEW, ("grace",))


def test_machine_that_is_ended_or_not_there_is_left_alone(bench: Bench) -> None:
    assert give(bench).reason_code == "nothing_running"
    write_tombstone(bench.context, bench.running(), Tombstone("bob", "down", START))
    assert give(bench).reason_code == "not_ready"
    assert bench.record.state is State.ENDING
    assert machine(bench).kinds == []


def test_forks_head_has_to_be_named_and_a_closed_one_is_refused() -> None:
    spec = find_command("sync")
    assert spec is not None
    fork = pull_request(head_repository="mallory/train", head_sha=NEW)
    policy = replace(POLICY, may_forks_launch=True)
    facts = IdentityFacts(Command("sync", "sync"), spec, Authority("write"), fork, "acme/train", policy, "ada")
    for changes, code in (
        ({}, "fork_sha_required"),
        ({"policy": POLICY}, "fork_denied"),
        ({"pull_request": pull_request(state="closed")}, "pull_request_closed"),
        ({"rerun_by": "mallory", "pull_request": pull_request()}, "rerun_by_another"),
    ):
        gate = identity_gate(replace(facts, **changes))  # type: ignore[arg-type]  # keyword bag
        assert isinstance(gate, Deny)
        assert gate.reason_code == code
    assert isinstance(identity_gate(replace(facts, command=Command("sync", "sync", sha=NEW))), Allow)
