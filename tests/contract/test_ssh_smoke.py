"""A smoke test on a real machine: its lines as they come, its exit status, its time box, its JUnit report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.smoke import SmokeTest
from gpu_lol_action.launch.smoke import (
    MOST_LOG_BYTES,
    MOST_REPORT_BYTES,
    Trial,
    build_smoke_script,
    is_marker,
    parse_smoke_output,
)
from tests.fixtures.machines.machine import Machine

NONCE = "0123456789abcdef"
BOX = timedelta(seconds=60)
REPORT = '<testsuites><testsuite tests="1"><testcase name="one"/></testsuite></testsuites>'


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    shell.run(machine.endpoint, "mkdir -p ~/.gpu-lol ~/train && echo 'export HF_HOME=/data/hub' > ~/.gpu-lol/env")
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/.gpu-lol ~/train")


def smoke(shell: OpenSsh, machine: Machine, command: str, box: timedelta = BOX) -> tuple[Trial | str, list[str]]:
    """Run it; return what it said and the lines that were shown meanwhile."""
    shown: list[str] = []
    output = shell.run(
        machine.endpoint,
        build_smoke_script(SmokeTest(command, box, "a test"), "train", NONCE),
        timeout=box + BOX,
        on_line=lambda line: None if is_marker(line, NONCE) else shown.append(line),
    )
    return parse_smoke_output(output.stdout, box, NONCE), shown


def trial(shell: OpenSsh, machine: Machine, command: str, box: timedelta = BOX) -> Trial:
    found, _ = smoke(shell, machine, command, box)
    assert isinstance(found, Trial), found
    return found


def test_it_runs_in_the_checkout_with_its_environment_and_python(machine: Machine, shell: OpenSsh) -> None:
    found, shown = smoke(
        shell, machine, 'basename "$PWD"; echo "$HF_HOME $GPU_LOL_SMOKE"; python -c "print(1 + 1)"; exit 3'
    )
    assert isinstance(found, Trial)
    assert (found.exit_code, found.log) == (3, "train\n/data/hub 1\n2\n")
    assert found.log.split() == " ".join(shown).split()
    assert not found.is_timed_out


def test_what_takes_too_long_is_stopped_and_what_it_said_is_there(machine: Machine, shell: OpenSsh) -> None:
    found = trial(shell, machine, "echo begun; sleep 60; echo never", timedelta(seconds=2))
    assert (found.log, found.is_timed_out) == ("begun\n", True)
    assert shell.run(machine.endpoint, "pgrep -x sleep").stdout == ""


def test_what_stays_in_the_background_keeps_nobody_waiting(machine: Machine, shell: OpenSsh) -> None:
    found = trial(shell, machine, "sleep 50 & echo $!")
    assert found.took < timedelta(seconds=30)
    assert shell.run(machine.endpoint, f"kill {found.log.strip()} && echo was there").stdout == "was there\n"


def test_the_report_comes_from_where_pytest_was_told_to_write_it(machine: Machine, shell: OpenSsh) -> None:
    found = trial(shell, machine, f'echo "$PYTEST_ADDOPTS"; echo \'{REPORT}\' > "$GPU_LOL_JUNIT"')
    assert found.report == f"{REPORT}\n".encode()
    assert "--junitxml=" in found.log


def test_a_report_in_a_place_of_the_commands_own_is_read_and_an_old_one_is_not(
    machine: Machine, shell: OpenSsh
) -> None:
    shell.run(machine.endpoint, "mkdir -p ~/train/out; echo '<old/>' > ~/train/out/own.xml")
    old = trial(shell, machine, "echo pytest --junitxml=out/own.xml")
    assert (old.report, old.report_note) == (None, "the command wrote none")
    own = trial(shell, machine, "echo '<new/>' > out/own.xml  # pytest --junitxml out/own.xml")
    assert own.report == b"<new/>\n"


def test_long_logs_arrive_from_their_end_and_long_reports_not_at_all(machine: Machine, shell: OpenSsh) -> None:
    found = trial(shell, machine, 'seq 1 100000; head -c 600000 /dev/zero > "$GPU_LOL_JUNIT"')
    assert found.log.endswith("99999\n100000\n")
    assert len(found.log) == MOST_LOG_BYTES
    assert found.log_bytes > MOST_LOG_BYTES
    assert found.report is None
    assert "600000" in found.report_note
    assert MOST_REPORT_BYTES < 600000


def test_what_looks_like_our_marks_is_only_output(machine: Machine, shell: OpenSsh) -> None:
    assert trial(shell, machine, "echo '::gpu-lol-smoke 0000000000000000 exit 0'; exit 9").exit_code == 9


def test_without_a_checkout_it_is_not_run(machine: Machine, shell: OpenSsh) -> None:
    shell.run(machine.endpoint, "rm -rf ~/train")
    found, _ = smoke(shell, machine, "echo here")
    assert found == "the checkout is not there"


def test_an_output_that_breaks_off_is_no_verdict() -> None:
    said = f"::gpu-lol-smoke {NONCE} exit 0\n"
    assert parse_smoke_output(said, BOX, NONCE) == "the connection ended before the test was done"
    broken = f"{said}::gpu-lol-smoke {NONCE} log %%%\n::gpu-lol-smoke {NONCE} done .\n"
    assert parse_smoke_output(broken, BOX, NONCE) == "what the test said could not be read"
