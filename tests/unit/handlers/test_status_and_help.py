from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.commands import COMMANDS
from gpu_lol_action.domain.environment import State
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.errors import Door, OperatorError, TransientError
from gpu_lol_action.handlers.status import handle_help, handle_status
from tests.support.hands import ScriptedShell
from tests.unit.handlers.conftest import Bench


def status(bench: Bench) -> str:
    outcome = handle_status(bench.context, bench.order("/gpu-lol status"))
    assert outcome.reason_code == "status_shown"
    assert outcome.text == bench.texts[-1]
    return outcome.text


def says(bench: Bench, text: str, exit_code: int = 0) -> None:
    bench.shell = ScriptedShell([("nvidia-smi", lambda _script: RemoteOutput(exit_code, text, ""))])


def test_status_without_a_machine_says_so(bench: Bench) -> None:
    assert "Nothing is running" in status(bench)
    assert bench.cloud.log == []


def test_status_shows_what_the_gpu_does(bench: Bench) -> None:
    bench.running()
    says(bench, "87, 20480, 24564\n")
    assert "87 %, 20.0 of 24.0 GiB" in status(bench)


@pytest.mark.parametrize(
    ("text", "exit_code", "shown"),
    [
        ("[N/A], 55, 143771\n", 0, "| 0.1 of 140.4 GiB |"),  # in MIG mode, and in WSL
        ("12, [N/A], [N/A]\n", 0, "| 12 % |"),  # GB10 has no memory of its own
        ("0, 0, 32510\nWARNING: infoROM is corrupted at gpu 0008:00:00.0\n", 14, "| 0 %, 0.0 of 31.7 GiB |"),
    ],
)
def test_status_shows_what_a_gpu_tells(bench: Bench, text: str, exit_code: int, shown: str) -> None:
    bench.running()
    says(bench, text, exit_code)
    assert shown in status(bench)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[N/A], [N/A], [N/A]",
        "87, 20480",
        "²³, 1, 1",  # digits for isdigit(), no number for int()
        "9" * 5000 + ", 1, 1",  # more digits than int() reads
        "<script>, @everyone, |",
    ],
)
def test_status_leaves_out_what_a_machine_says_wrongly(bench: Bench, text: str) -> None:
    bench.running()
    says(bench, text)
    body = status(bench)
    assert bench.record.name in body
    assert "GiB" not in body
    assert "@everyone" not in body


def test_status_does_without_a_machine_that_does_not_answer(bench: Bench) -> None:
    bench.running()
    bench.shell = ScriptedShell()
    assert bench.record.name in status(bench)
    says(bench, "87, 1, 2", exit_code=9)
    assert "87 %" not in status(bench)


def test_status_asks_no_machine_where_no_key_is_at_hand(bench: Bench) -> None:
    bench.running()
    bench.settle(clouds=())
    shell = ScriptedShell()
    bench.shell = shell
    status(bench)
    assert shell.scripts == []


def test_status_survives_a_key_that_is_none(bench: Bench) -> None:
    bench.running()

    def refuse() -> ScriptedShell:
        raise OperatorError("cloud_secret_malformed", "too short")

    bench.context = replace(bench.context, shell=refuse)
    assert bench.record.name in status(bench)


@pytest.mark.parametrize("state", [State.CLAIMED, State.LAUNCHING, State.VALIDATING])
def test_status_shows_what_is_on_its_way(bench: Bench, state: State) -> None:
    bench.running(state)
    assert state.value in status(bench)


def test_status_names_a_record_that_cannot_be_read_and_counts_it_as_running(bench: Bench) -> None:
    bench.ledger._store.create(environment_name(5, 12), "{not json", "x")
    text = status(bench)
    assert environment_name(5, 12) in text
    assert "Nothing is running" not in text


def test_status_leaves_out_other_pull_requests(bench: Bench) -> None:
    bench.running()
    bench.forge.pull = replace(bench.forge.pull, number=13)
    assert "Nothing is running" in status(bench)


def test_status_whose_comment_is_refused_is_in_the_summary(bench: Bench) -> None:
    bench.running()
    bench.forge.is_read_only = True
    outcome = handle_status(bench.context, bench.order("/gpu-lol status"))
    assert bench.record.name in outcome.text
    assert "summary" in bench.progress.warnings[0]


@pytest.mark.parametrize("door", list(Door))
def test_help_lists_what_works_at_this_door(bench: Bench, door: Door) -> None:
    bench.settle(door=door)
    text = handle_help(bench.context, bench.order("/gpu-lol help")).text
    here = DoorKind.COMMENT if door is Door.JOB else DoorKind.TERMINAL
    for spec in COMMANDS:
        prefix = "/gpu-lol" if door is Door.JOB else "gpu-lol"
        assert (f"| `{prefix} {spec.name}` |" in text) is (spec.doors in (DoorKind.BOTH, here)), spec.name


@pytest.mark.parametrize("name", [spec.name for spec in COMMANDS if spec.doors is not DoorKind.TERMINAL])
def test_help_explains_each_command(bench: Bench, name: str) -> None:
    text = handle_help(bench.context, bench.order("/gpu-lol help", topic=name)).text
    assert name in text


@pytest.mark.parametrize("topic", ["upp", "`rm -rf`", "@everyone", "<img src=x>", "a" * 400, "\u202eup"])
def test_help_on_no_command_is_an_answer_without_the_strangers_markup(bench: Bench, topic: str) -> None:
    outcome = handle_help(bench.context, bench.order("/gpu-lol help", topic=topic))
    assert outcome.decision == "done"
    assert "<img" not in outcome.text
    assert "\n@everyone" not in outcome.text
    assert "\u202e" not in outcome.text


def test_help_says_what_is_running(bench: Bench) -> None:
    bench.running()
    text = handle_help(bench.context, bench.order("/gpu-lol help")).text
    assert f"`{bench.record.name}` runs at" in text


def test_a_ledger_that_is_out_of_reach_is_said_and_nothing_is_guessed(bench: Bench) -> None:
    def refuse() -> list[object]:
        raise TransientError("github_unreachable", "it did not answer")

    bench.ledger.survey = refuse  # type: ignore[assignment,method-assign]  # an outage
    with pytest.raises(TransientError):
        handle_status(bench.context, bench.order("/gpu-lol status"))
    assert bench.texts == []
