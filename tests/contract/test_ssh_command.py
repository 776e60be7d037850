"""Commands and logs on a real machine: where they run, what they see, how they end, and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.launch.command import MOST_BYTES, Output, build_logs_script, build_run_script, parse_command_output
from tests.fixtures.machines.machine import Machine

NONCE = "0123456789abcdef"
BOX = timedelta(seconds=60)


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    shell.run(machine.endpoint, "mkdir -p ~/.gpu-lol ~/train && echo 'export HF_HOME=/data/hub' > ~/.gpu-lol/env")
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/.gpu-lol ~/train")


def run(shell: OpenSsh, machine: Machine, command: str, box: timedelta = BOX) -> Output:
    output = shell.run(machine.endpoint, build_run_script(command, "train", box, NONCE), timeout=box + BOX)
    found = parse_command_output(output.stdout, box, NONCE)
    assert isinstance(found, Output), output
    return found


def logs(shell: OpenSsh, machine: Machine, which: str) -> Output | str:
    output = shell.run(machine.endpoint, build_logs_script(which, NONCE))
    return parse_command_output(output.stdout, BOX, NONCE)


def test_command_runs_in_the_checkout_with_its_environment(machine: Machine, shell: OpenSsh) -> None:
    found = run(shell, machine, 'basename "$PWD"; echo "$HF_HOME"; umask; echo err >&2; exit 7')
    assert (found.exit_code, found.text) == (7, "train\n/data/hub\n0022\nerr\n")
    assert not found.is_timed_out


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("printf '%s|' 'a   b' \"$0\" \"$#\"", "a   b|bash|0|"),
        ("echo '; touch ~/broken'; echo $(echo sub) `echo tick` | tr a-z A-Z", "; touch ~/broken\nSUB TICK\n"),
        ("echo ${nonce:-none} ${script:-none} ${seconds:-none}", "none none none\n"),
        ("cat", ""),
        ("printf '\\377\\000x'", "\ufffd\x00x"),
        (f"echo '::gpu-lol-command {NONCE} exit 0'; exit 3", f"::gpu-lol-command {NONCE} exit 0\n"),
    ],
)
def test_command_is_data_until_the_machines_shell_has_it(
    machine: Machine, shell: OpenSsh, command: str, text: str
) -> None:
    found = run(shell, machine, command)
    assert found.text == text
    assert found.exit_code == (3 if "exit 3" in command else 0)
    assert shell.run(machine.endpoint, "ls ~/broken 2> /dev/null").stdout == ""


def test_command_that_takes_too_long_is_stopped_and_what_it_said_is_there(machine: Machine, shell: OpenSsh) -> None:
    found = run(shell, machine, "echo begun; sleep 60; echo never", timedelta(seconds=2))
    assert found.text == "begun\n"
    assert found.is_timed_out
    assert shell.run(machine.endpoint, "pgrep -x sleep").stdout == ""


def test_what_stays_in_the_background_keeps_no_connection(machine: Machine, shell: OpenSsh) -> None:
    found = run(shell, machine, "sleep 30 & echo $!")
    assert found.exit_code == 0
    assert found.took < timedelta(seconds=10)
    assert shell.run(machine.endpoint, f"kill {found.text.strip()} && echo was there").stdout == "was there\n"


def test_long_output_arrives_from_its_end(machine: Machine, shell: OpenSsh) -> None:
    found = run(shell, machine, "seq 1 100000")
    assert found.is_cut
    assert found.text.endswith("99999\n100000\n")
    assert len(found.text) == MOST_BYTES


def test_logs_are_of_set_up_or_of_the_last_command(machine: Machine, shell: OpenSsh) -> None:
    assert isinstance(logs(shell, machine, "setup"), str)
    assert isinstance(logs(shell, machine, "run"), str)
    shell.run(machine.endpoint, "echo installed > ~/.gpu-lol/setup.log; touch -d '9 minutes ago' ~/.gpu-lol/setup.log")
    run(shell, machine, "echo first")
    run(shell, machine, "echo second")
    setup, last = logs(shell, machine, "setup"), logs(shell, machine, "run")
    assert isinstance(setup, Output)
    assert isinstance(last, Output)
    assert (setup.text, last.text) == ("installed\n", "second\n")
    assert timedelta(minutes=8) < setup.age < timedelta(minutes=10)
    assert last.exit_code is None


def test_last_command_is_known_when_several_began_within_one_second(machine: Machine, shell: OpenSsh) -> None:
    for number in range(8):
        run(shell, machine, f"echo {number}")
        last = logs(shell, machine, "run")
        assert isinstance(last, Output)
        assert last.text == f"{number}\n"


def test_only_the_last_runs_are_kept(machine: Machine, shell: OpenSsh) -> None:
    shell.run(machine.endpoint, "mkdir -p ~/.gpu-lol/runs; for n in $(seq 30); do echo > ~/.gpu-lol/runs/2020$n; done")
    run(shell, machine, "true")
    assert shell.run(machine.endpoint, "ls ~/.gpu-lol/runs | wc -l").stdout.strip() == "20"


def test_what_a_command_uses_is_measured_and_no_trace_of_it_stays(machine: Machine, shell: OpenSsh) -> None:
    # What stands in the checkout is none of the sampler's: it would not even start with this one.
    shell.run(machine.endpoint, "echo 'raise SystemExit(9)' > ~/train/json.py")
    found = run(shell, machine, 'echo "${sampler:-none} ${python:-none}"; sleep 1')
    assert found.text == "none none\n"
    assert found.measured is not None
    assert found.measured.samples >= 1
    assert found.measured.memory_peak_gib is not None
    assert shell.run(machine.endpoint, "ls ~/.gpu-lol").stdout.split() == ["env", "runs"]


def test_commit_is_told_where_nothing_was_changed_on_the_machine(machine: Machine, shell: OpenSsh) -> None:
    assert run(shell, machine, "true").commit == ""
    git = "git -c user.name=a -c user.email=a@example.com -c init.defaultBranch=main"
    made = shell.run(
        machine.endpoint,
        f"cd ~/train && echo 1 > a && {git} init -q . && {git} add a && {git} commit -qm a && git rev-parse HEAD",
    )
    assert run(shell, machine, "echo kept > notes").commit == made.stdout.strip()
    assert run(shell, machine, "echo 2 > a").commit == ""
