"""Sharing a real machine: who can log in with the key that stands on GitHub, before, during and after."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.launch.access import (
    Access,
    build_access_script,
    build_share_script,
    decide_access,
    parse_access_output,
)
from tests.fixtures.machines.machine import Machine, make_key

NONCE = "0123456789abcdef"


@pytest.fixture
def shell(machine: Machine, keys: dict[str, Path], shell: OpenSsh) -> OpenSsh:
    first = access_of(keys, "ada")
    assert parse_access_output(shell.run(machine.endpoint, build_access_script(first, NONCE)).stdout, NONCE) is None
    return shell


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    return {login: make_key(folder, login) for login in ("ada", "grace", "linus")}


def access_of(keys: dict[str, Path], login: str) -> Access:
    access = decide_access({login: [keys[login].with_suffix(".pub").read_text().rsplit(" ", 1)[0]]})
    assert isinstance(access, Access)
    return access


def can_log_in(machine: Machine, key: Path) -> bool:
    shell = OpenSsh(key.read_bytes())
    try:
        return shell.run(machine.endpoint, "echo in").stdout == "in\n"
    except OperatorError as error:
        if error.reason_code != "ssh_key_refused":
            raise
        return False
    finally:
        shell.close()


def set_keys(shell: OpenSsh, machine: Machine, keys: dict[str, Path], login: str, *, is_shared: bool) -> str | None:
    lines = access_of(keys, login).keys if is_shared else ()
    output = shell.run(machine.endpoint, build_share_script(login, lines, NONCE))
    return parse_access_output(output.stdout, NONCE)


def authorized(shell: OpenSsh, machine: Machine) -> list[str]:
    return shell.run(machine.endpoint, "cat ~/.ssh/authorized_keys").stdout.splitlines()


def test_shared_user_gets_in_and_out_and_nobody_elses_keys_change(
    machine: Machine, shell: OpenSsh, keys: dict[str, Path]
) -> None:
    own = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl grace"
    shell.run(machine.endpoint, f"echo '{own}' >> ~/.ssh/authorized_keys")
    before = authorized(shell, machine)
    assert can_log_in(machine, keys["ada"])
    assert not can_log_in(machine, keys["grace"])

    assert set_keys(shell, machine, keys, "grace", is_shared=True) is None
    assert set_keys(shell, machine, keys, "linus", is_shared=True) is None
    assert set_keys(shell, machine, keys, "grace", is_shared=True) is None, "a second time changes nothing"
    assert len(authorized(shell, machine)) == len(before) + 2
    assert all(can_log_in(machine, keys[login]) for login in ("ada", "grace", "linus"))

    assert set_keys(shell, machine, keys, "grace", is_shared=False) is None
    assert not can_log_in(machine, keys["grace"])
    assert all(can_log_in(machine, keys[login]) for login in ("ada", "linus"))
    assert set_keys(shell, machine, keys, "linus", is_shared=False) is None
    assert authorized(shell, machine) == before, "what stood outside of our block too"
    mode = shell.run(machine.endpoint, "stat -c %a ~/.ssh/authorized_keys; ls -A ~/.ssh").stdout
    assert mode.split()[0] == "600"
    assert ".gpu-lol" not in mode


def test_open_session_outlives_its_key_as_the_answer_says(
    machine: Machine, shell: OpenSsh, keys: dict[str, Path]
) -> None:
    assert set_keys(shell, machine, keys, "grace", is_shared=True) is None
    where = machine.endpoint
    options = ["-F", "none", "-i", str(keys["grace"]), "-p", str(where.port), "-o", "StrictHostKeyChecking=no"]
    options += ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "IdentityAgent=none"]
    session = subprocess.Popen(
        ["ssh", *options, f"{where.user}@{where.host}", 'echo here; read -r line; echo "$line"'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert session.stdin is not None
    assert session.stdout is not None
    assert session.stdout.readline() == "here\n"
    assert set_keys(shell, machine, keys, "grace", is_shared=False) is None
    said, _ = session.communicate("still here\n", timeout=30)
    assert said == "still here\n"
    assert not can_log_in(machine, keys["grace"])


@pytest.mark.parametrize(
    "damage",
    [
        "sed -i '/<<< gpu-lol <<</d' ~/.ssh/authorized_keys",
        "sed -i '/gpu-lol/d' ~/.ssh/authorized_keys",
        "mv ~/.ssh/authorized_keys ~/.ssh/elsewhere && ln -s elsewhere ~/.ssh/authorized_keys",
    ],
)
def test_file_that_is_not_as_we_left_it_is_not_touched(
    machine: Machine, shell: OpenSsh, keys: dict[str, Path], damage: str
) -> None:
    shell.run(machine.endpoint, "cp ~/.ssh/authorized_keys /tmp/kept")
    try:
        shell.run(machine.endpoint, damage)
        before = authorized(shell, machine)
        assert set_keys(shell, machine, keys, "grace", is_shared=True) is not None
        assert authorized(shell, machine) == before
    finally:
        shell.run(machine.endpoint, "rm -f ~/.ssh/authorized_keys; cp /tmp/kept ~/.ssh/authorized_keys")


def test_login_that_is_none_makes_no_script(keys: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match="no user name"):
        build_share_script("grace; reboot", access_of(keys, "grace").keys, NONCE)
