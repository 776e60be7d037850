"""``run`` and ``logs``: for those who could log in, as data, with the exit status, folded, redacted, cut from the front."""

from __future__ import annotations

import base64
import re
import shlex
from dataclasses import replace
from datetime import timedelta

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.environment import Requester, State
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.policy import Timeouts
from gpu_lol_action.domain.request import Command, Ignore, Outcome, ParseProblem
from gpu_lol_action.errors import TransientError
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.intake.parser import parse_comment, parse_words
from gpu_lol_action.launch.command import MOST_BYTES, build_run_script, parse_command_output
from tests.support.hands import START, ScriptedShell
from tests.support.machine import nonce_of
from tests.unit.handlers.conftest import POLICY, Bench

BOX = timedelta(minutes=10)
NONCE = "0123456789abcdef"


def answering(bench: Bench, text: str, *said: str) -> None:
    def answer(script: str) -> RemoteOutput:
        output = base64.b64encode(text.encode()).decode()
        lines = [*said, f"bytes {len(text)}", f"output {output}", "done ."]
        return RemoteOutput(0, "".join(f"::gpu-lol-command {nonce_of(script)} {line}\n" for line in lines), "")

    bench.shell = ScriptedShell([("most=", answer)])


def give(bench: Bench, body: str, by: str = "ada", **policy: object) -> Outcome:
    parsed = parse_comment(body)
    assert not isinstance(parsed, Ignore)
    assert isinstance(parsed[0], Command), parsed
    order = bench.order("/gpu-lol x", policy=replace(POLICY, **policy))  # type: ignore[arg-type]  # keyword bag
    return obey(bench.context, replace(order, command=parsed[0], requester=Requester(by)), may_use_cloud=True)


def sent(bench: Bench, name: str) -> str:
    """A value of the last script, as the machine's shell reads it."""
    assert isinstance(bench.shell, ScriptedShell)
    found = re.search(rf"^{name}=(.*?)\n(?=[a-z_]+=|#)", bench.shell.scripts[-1], re.MULTILINE | re.DOTALL)
    assert found
    return shlex.split(found[1])[0]


def test_command_travels_as_it_stands_and_its_end_is_told(bench: Bench) -> None:
    bench.running()
    answering(bench, "GPU 0: A40\n", "exit 0", "seconds 3")
    outcome = give(bench, "/gpu-lol run -- echo 'a   b' --profile \"$HOME\"; nvidia-smi -L")
    assert outcome.details["exit_code"] == "0"
    assert sent(bench, "script") == "echo 'a   b' --profile \"$HOME\"; nvidia-smi -L"
    assert "🟢 Exit status 0 after 3 s" in outcome.text
    assert "<details><summary>1 line</summary>" in outcome.text
    assert "runs at $0.44/h" in outcome.text


def test_failure_is_told_and_is_no_failure_of_ours(bench: Bench) -> None:
    bench.running()
    answering(bench, "Traceback\n", "exit 1", "seconds 3")
    outcome = give(bench, "/gpu-lol run -- false")
    assert (outcome.decision, outcome.reason_code) == ("done", "ran")
    assert "🔴 Exit status 1" in outcome.text


def test_secret_in_output_and_command_is_not_told(bench: Bench) -> None:
    bench.running()
    key = "hf_" + "a1B2" * 9
    answering(bench, f"token={key}\n", "exit 0", "seconds 0")
    outcome = give(bench, f"/gpu-lol run -- echo {key}")
    assert key not in outcome.text
    assert "[redacted]" in outcome.text
    assert sent(bench, "script").endswith(key), "the machine gets what was written"


def test_long_output_keeps_its_end(bench: Bench) -> None:
    bench.running()
    answering(bench, "".join(f"line {number}\n" for number in range(5000)), "exit 0", "seconds 0")
    outcome = give(bench, "/gpu-lol run -- seq 5000")
    assert "line 4999" in outcome.text
    assert "line 4799\n" not in outcome.text
    assert "the beginning is left out" in outcome.text


def test_time_box_is_the_policys_and_never_longer_than_the_lease(bench: Bench) -> None:
    bench.running()
    answering(bench, "", "exit 124", "seconds 90")
    outcome = give(bench, "/gpu-lol run -- sleep 999", timeouts=Timeouts(run=timedelta(seconds=90)))
    assert sent(bench, "seconds") == "90"
    assert "Stopped after 1 min 30 s, its time box" in outcome.text
    bench.clock.at = START + timedelta(minutes=118)
    give(bench, "/gpu-lol run -- sleep 999")
    assert sent(bench, "seconds") == "120"


def test_own_exit_status_of_124_is_no_time_out() -> None:
    said = f"::gpu-lol-command {NONCE} "
    found = parse_command_output(
        f"{said}exit 124\n{said}seconds 2\n{said}bytes 0\n{said}output\n{said}done .\n", BOX, NONCE
    )
    assert not isinstance(found, str)
    assert not found.is_timed_out


@pytest.mark.parametrize(
    "output",
    [
        "",
        "::gpu-lol-command ffffffffffffffff done .",
        f"::gpu-lol-command {NONCE} output aGk=",
        f"::gpu-lol-command {NONCE} output %%%\n::gpu-lol-command {NONCE} done .",
        f"::gpu-lol-command {NONCE} failed no room\n::gpu-lol-command {NONCE} done .",
    ],
)
def test_answer_that_is_not_whole_is_none(output: str) -> None:
    assert isinstance(parse_command_output(output, BOX, NONCE), str)


def test_who_cannot_log_in_runs_nothing(bench: Bench) -> None:
    bench.running(shared=("Grace",))
    answering(bench, "", "exit 0", "seconds 0")
    outcome = give(bench, "/gpu-lol run -- id", by="mallory")
    assert outcome.reason_code == "not_on_machine"
    assert isinstance(bench.shell, ScriptedShell)
    assert not bench.shell.scripts
    assert give(bench, "/gpu-lol run -- id", by="grace").reason_code == "ran"


def test_machine_that_does_not_answer_is_an_outage(bench: Bench) -> None:
    bench.running()
    with pytest.raises(TransientError):
        give(bench, "/gpu-lol run -- id")
    bench.shell = ScriptedShell([("most=", lambda _script: RemoteOutput(1, "bash: broken", ""))])
    with pytest.raises(TransientError) as caught:
        give(bench, "/gpu-lol run -- id")
    assert caught.value.reason_code == "command_not_run"


@pytest.mark.parametrize("line", ["run -- id", "logs"])
def test_machine_that_is_not_ready_is_said(bench: Bench, line: str) -> None:
    assert give(bench, f"/gpu-lol {line}").reason_code == "nothing_running"
    bench.running(State.VALIDATING)
    assert give(bench, f"/gpu-lol {line}").reason_code == "not_ready"


def test_logs_show_the_end_of_set_up_or_of_the_last_command(bench: Bench) -> None:
    bench.running()
    answering(bench, "== requirements\n", "age 540")
    outcome = give(bench, "/gpu-lol logs")
    assert outcome.reason_code == "logs_shown"
    assert "Log, written 9 min ago" in outcome.text
    assert sent(bench, "mode") == "setup"
    give(bench, "/gpu-lol logs run")
    assert sent(bench, "mode") == "latest"
    no_log = RemoteOutput(1, "", "")
    bench.shell = ScriptedShell([("most=", lambda _script: no_log)])
    assert give(bench, "/gpu-lol logs run").reason_code == "no_log"


@pytest.mark.parametrize(
    ("body", "script"),
    [
        ("/gpu-lol run -- `echo *a* _b_ \\n`", "echo *a* _b_ \\n"),
        ("/gpu-lol run \u2014 nvidia-smi", "nvidia-smi"),
        ("/gpu-lol run --profile eval -- ls -- -a", "ls -- -a"),
        ("/gpu-lol run -- a && b | c > d", "a && b | c > d"),
    ],
)
def test_grammar_takes_what_stands_behind(body: str, script: str) -> None:
    parsed = parse_comment(body)
    assert isinstance(parsed, list)
    assert isinstance(parsed[0], Command)
    assert parsed[0].script == script


@pytest.mark.parametrize(
    "body", ["/gpu-lol run", "/gpu-lol run --", "/gpu-lol run ls", "/gpu-lol run -- l\u200bs", "/gpu-lol logs pip"]
)
def test_grammar_refuses(body: str) -> None:
    parsed = parse_comment(body)
    assert isinstance(parsed, list)
    assert isinstance(parsed[0], ParseProblem)


def test_terminal_passes_one_line_or_a_program_with_its_arguments() -> None:
    for words, script in ((["cd x && make"], "cd x && make"), (["python", "-c", "print('a  b')"], None)):
        parsed = parse_words(["run", "--", *words], DoorKind.TERMINAL)
        assert isinstance(parsed, Command)
        assert parsed.script == script or shlex.split(parsed.script) == words


def test_hostile_command_stays_one_value_of_the_script() -> None:
    hostile = "'; reboot; '\n$(id)`id`\\"
    script = build_run_script(hostile, "train", BOX, NONCE)
    values = script.partition("\n#")[0]
    assert f"script={shlex.quote(hostile)}" in values
    assert str(MOST_BYTES) in values
