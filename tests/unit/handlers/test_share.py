"""``share`` and ``unshare``: record and machine agree afterwards, or the record names more keys than there are, never fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.commands import find_command
from gpu_lol_action.domain.environment import Requester, State
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.request import Command, Deny, Outcome, ParseProblem
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.up import handle_up
from gpu_lol_action.intake.gates import Authority, IdentityFacts, identity_gate
from gpu_lol_action.intake.parser import parse_words
from tests.support.hands import KEY, ScriptedShell, pull_request
from tests.support.machine import GoodMachine, nonce_of
from tests.unit.handlers.conftest import POLICY, Bench


@pytest.fixture
def bench(bench: Bench) -> Iterator[Bench]:
    bench.shell = ScriptedShell([("person_keys=", _obeys)])
    bench.forge.keys["grace"] = [KEY]
    yield bench
    bench.assert_nothing_bills_unnoticed()


def _obeys(script: str) -> RemoteOutput:
    return RemoteOutput(0, f"::gpu-lol-access {nonce_of(script)} done\n", "")


def give(bench: Bench, line: str, by: str = "ada") -> Outcome:
    command = parse_words(line.split(), DoorKind.COMMENT)
    assert isinstance(command, Command)
    order = replace(bench.order(f"/gpu-lol {line}"), command=command, requester=Requester(by))
    return obey(bench.context, order, may_use_cloud=True)


def scripts(bench: Bench) -> list[str]:
    assert isinstance(bench.shell, ScriptedShell)
    return bench.shell.scripts


def installed(bench: Bench) -> list[str]:
    """The keys that the last script made the person's own."""
    return re.findall(r"ssh-ed25519 \S+ \S+(?=')", scripts(bench)[-1])


def test_user_is_on_the_record_and_on_the_machine(bench: Bench) -> None:
    bench.running()
    outcome = give(bench, "share @grace")
    assert outcome.reason_code == "shared"
    assert bench.record.shared == ("grace",)
    assert installed(bench) == [f"{KEY} grace"]
    assert "`grace` can log in" in outcome.text
    assert "runs at $0.44/h" in outcome.text


def test_shared_user_shares_on_and_is_taken_away_again(bench: Bench) -> None:
    bench.running()
    bench.forge.keys["linus"] = [KEY]
    give(bench, "share grace")
    assert give(bench, "share linus", by="Grace").reason_code == "shared"
    outcome = give(bench, "unshare @GRACE")
    assert outcome.reason_code == "unshared"
    assert bench.record.shared == ("linus",)
    assert installed(bench) == []
    assert "login=grace" in scripts(bench)[-1]
    assert "A session that is open stays open" in outcome.text


def test_user_without_a_key_changes_nothing(bench: Bench) -> None:
    bench.running()
    outcome = give(bench, "share @nobody")
    assert (outcome.decision, outcome.reason_code) == ("denied", "ssh_key_missing")
    assert bench.record.shared == ()
    assert not scripts(bench)
    assert "runs at $0.44/h" in outcome.text, "what is billing now"


@pytest.mark.parametrize(
    ("line", "by", "reason_code"),
    [
        ("share @grace", "mallory", "not_on_machine"),
        ("share @mallory", "mallory", "not_on_machine"),
        ("share @Ada", "ada", "already_shared"),
        ("unshare @ada", "ada", "not_shared"),
        ("unshare @grace", "ada", "not_shared"),
    ],
)
def test_refusal_touches_neither_record_nor_machine(bench: Bench, line: str, by: str, reason_code: str) -> None:
    before = bench.running().record
    assert give(bench, line, by).reason_code == reason_code
    assert bench.record == before
    assert not scripts(bench)


@pytest.mark.parametrize("line", ["share @grace", "unshare @grace"])
def test_machine_that_is_not_there_is_said(bench: Bench, line: str) -> None:
    assert give(bench, line).reason_code == "nothing_running"
    bench.running(State.LAUNCHING)
    assert give(bench, line).reason_code == "not_ready"


def test_keys_that_did_not_arrive_are_not_on_the_record(bench: Bench) -> None:
    bench.running()
    bench.shell = ScriptedShell()
    with pytest.raises(TransientError) as caught:
        give(bench, "share @grace")
    assert caught.value.reason_code == "access_not_installed"
    assert bench.record.shared == ()


def test_keys_that_could_not_be_taken_away_stay_on_the_record(bench: Bench) -> None:
    bench.running(shared=("grace",))
    bench.shell = ScriptedShell(
        [("person_keys=", lambda script: RemoteOutput(1, f"::gpu-lol-access {nonce_of(script)} failed no room\n", ""))]
    )
    with pytest.raises(TransientError) as caught:
        give(bench, "unshare @grace")
    assert caught.value.explanation.why == "no room"
    assert bench.record.shared == ("grace",)


def test_user_who_was_shared_already_keeps_access_when_new_keys_do_not_arrive(bench: Bench) -> None:
    bench.running(shared=("grace",))
    bench.shell = ScriptedShell()
    with pytest.raises(TransientError):
        give(bench, "share @grace")
    assert bench.record.shared == ("grace",), "the old keys are still there"


def test_machine_that_is_ended_meanwhile_gets_no_keys(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = bench.running()
    bench.let_bob_be_first(entry, monkeypatch)
    assert give(bench, "share @grace").reason_code == "not_ready"
    assert not scripts(bench)
    assert bench.record.shared == ()


def test_up_share_is_on_the_record(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware: {gpu_type: RTX4090, gpu_count: 1}\n")
    bench.shell = GoodMachine()
    bench.forge.keys["ADA"] = bench.forge.keys["ada"]
    handle_up(bench.context, bench.order("/gpu-lol up", share=("grace", "ADA", "grace")))
    assert bench.record.shared == ("grace",)


@pytest.mark.parametrize("line", ["share", "unshare", "share @a--", "share $(id)", "share @grace @eve"])
def test_grammar_takes_one_login(line: str) -> None:
    assert isinstance(parse_words(line.split(), DoorKind.COMMENT), ParseProblem)


@pytest.mark.parametrize("name", ["share", "unshare", "extend"])
def test_old_run_that_another_starts_again_does_nothing(name: str) -> None:
    spec = find_command(name)
    assert spec is not None
    facts = IdentityFacts(
        Command(name, name), spec, Authority("write"), pull_request(), "acme/train", POLICY, "ada", rerun_by="mallory"
    )
    gate = identity_gate(facts)
    assert isinstance(gate, Deny)
    assert gate.reason_code == "rerun_by_another"


def test_step_without_the_cloud_leaves_it_to_the_next(bench: Bench) -> None:
    bench.running()
    for name in ("share", "unshare"):
        order = bench.order(f"/gpu-lol {name} @grace", share=("grace",))
        assert obey(bench.context, order, may_use_cloud=False).decision == "deferred"
