"""Our SSH adapter against a real sshd."""

from __future__ import annotations

import contextlib
import shutil
import socket
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh, fingerprint
from gpu_lol_action.adapters.ssh_streams import MAX_STREAM_BYTES
from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.errors import OperatorError, TransientError
from gpu_lol_action.launch.access import Access, build_access_script, decide_access, parse_access_output
from tests.fixtures.machines.machine import Machine, free_port, lay_over, make_key, running_machine

NONCE = "a1b2c3d4e5f6"


def test_run_returns_exit_code_and_both_streams(machine: Machine, shell: OpenSsh) -> None:
    output = shell.run(machine.endpoint, "echo \"it's $0 %s 'q'\"; echo küche >&2; exit 7")

    assert (output.exit_code, output.stdout, output.stderr) == (7, "it's bash %s 'q'\n", "küche\n")


@pytest.mark.parametrize("code", [124, 137, 255])
def test_run_takes_no_exit_code_of_a_script_for_its_own_trouble(machine: Machine, shell: OpenSsh, code: int) -> None:
    assert shell.run(machine.endpoint, f"exit {code}").exit_code == code


def test_run_carries_script_and_binary_data_in_one_go(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    file = tmp_path / "data"
    file.write_bytes(data)
    script = f"# {'é' * 200_000}\nwc -c; exit 3"

    assert shell.run(machine.endpoint, script, stdin=data).stdout.strip() == str(len(data))
    assert shell.run(machine.endpoint, script, stdin=file).stdout.strip() == str(len(data))
    assert (
        shell.run(machine.endpoint, "cat | sha256sum", stdin=data).stdout
        == shell.run(machine.endpoint, "cat | sha256sum", stdin=file).stdout
    )
    assert shell.run(machine.endpoint, script).exit_code == 3


def test_run_survives_a_script_that_reads_nothing_of_much_data(machine: Machine, shell: OpenSsh) -> None:
    assert shell.run(machine.endpoint, "exit 5", stdin=b"x" * 5_000_000).exit_code == 5


def test_run_shows_lines_made_safe_as_they_come(machine: Machine, shell: OpenSsh) -> None:
    lines: list[str] = []
    token = "gh" + "p_" + "a1" * 18

    shell.run(machine.endpoint, rf"printf 'one\n\033[31mtwo\033[0m\rthree\n{token}\n\377\n'", on_line=lines.append)

    assert lines == ["one", "two", "three", "[redacted]", "\ufffd"]


def test_run_cuts_output_and_keeps_the_tail(machine: Machine, shell: OpenSsh) -> None:
    output = shell.run(machine.endpoint, "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last; echo first >&2")

    assert len(output.stdout) <= MAX_STREAM_BYTES
    assert output.stdout.endswith("x\nlast\n")
    assert output.stderr == "first\n"


def test_run_ends_when_time_is_up_even_if_the_machine_goes_on_talking(machine: Machine, shell: OpenSsh) -> None:
    with pytest.raises(TransientError) as caught:
        shell.run(machine.endpoint, "while :; do echo busy; sleep 0.1; done", timeout=timedelta(seconds=2))

    assert caught.value.reason_code == "machine_timed_out"


def test_run_says_when_nobody_listens(shell: OpenSsh) -> None:
    with pytest.raises(TransientError) as caught:
        shell.run(SshEndpoint("127.0.0.1", free_port(), "root"), "true", timeout=timedelta(seconds=20))

    assert caught.value.reason_code == "machine_unreachable"
    assert "refused" in caught.value.explanation.why


def test_run_says_that_a_connection_broke_off(machine: Machine, shell: OpenSsh) -> None:
    find = "pid=$$; until grep -q ^sshd /proc/$pid/comm; do pid=$(awk '/^PPid/{print $2}' /proc/$pid/status); done"
    with pytest.raises(TransientError) as caught:
        shell.run(machine.endpoint, f"{find}; echo begun; kill -9 $pid")

    assert caught.value.reason_code == "machine_unreachable"
    assert "broke off" in caught.value.explanation.why or "reset" in caught.value.explanation.why


def test_run_says_when_what_listens_is_no_sshd(shell: OpenSsh) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        with pytest.raises(TransientError) as caught:
            shell.run(SshEndpoint("127.0.0.1", server.getsockname()[1], "root"), "true", timeout=timedelta(seconds=20))

    assert caught.value.reason_code == "machine_unreachable"


def _hang_up(server: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the test ends by closing the server
        while True:
            connection, _address = server.accept()
            connection.close()


def test_run_is_an_operators_matter_when_the_key_is_refused(machine: Machine, tmp_path: Path) -> None:
    stranger = OpenSsh(make_key(tmp_path).read_bytes())
    with pytest.raises(OperatorError) as caught:
        stranger.run(machine.endpoint, "true")
    stranger.close()

    assert caught.value.reason_code == "ssh_key_refused"


def test_host_key_is_the_machines_own_and_pinned_from_then_on(machine: Machine, shell: OpenSsh) -> None:
    key = shell.host_key(machine.endpoint)
    own = shell.run(
        machine.endpoint, "cat /etc/ssh/ssh_host_ed25519_key.pub; ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"
    )

    assert own.stdout.startswith(key + " ")
    assert fingerprint(key) in own.stdout
    assert shell.host_key(replace(machine.endpoint, host_key=key)) == key


def test_run_refuses_a_machine_with_another_host_key(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    other = " ".join(make_key(tmp_path).with_suffix(".pub").read_text().split()[:2])
    for call in (lambda e: shell.run(e, "true"), shell.host_key):
        with pytest.raises(OperatorError) as caught:
            call(replace(machine.endpoint, host_key=other))
        assert caught.value.reason_code == "host_key_changed"


@pytest.mark.parametrize(
    "endpoint",
    [
        SshEndpoint("-oProxyCommand=touch /tmp/owned", 22, "root"),
        SshEndpoint("127.0.0.1", 22, "-oProxyCommand=x"),
        SshEndpoint("127.0.0.1", 0, "root"),
        SshEndpoint("a b", 22, "root"),
    ],
)
def test_run_refuses_an_address_that_is_none(shell: OpenSsh, endpoint: SshEndpoint) -> None:
    with pytest.raises(OperatorError):
        shell.run(endpoint, "true")


def test_private_key_is_only_ours_to_read_and_goes_away(machine: Machine) -> None:
    shell = OpenSsh(machine.private_key)
    (file,) = (path for path in Path(shell._folder.name).rglob("*") if path.is_file())

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    shell.close()
    assert not file.exists()


def _password_methods(machine: Machine, shell: OpenSsh) -> str:
    ask = (
        "ssh -F /dev/null -o BatchMode=yes -o PreferredAuthentications=none -o StrictHostKeyChecking=no"
        f" -o UserKnownHostsFile=/dev/null -p {machine.endpoint.port} root@127.0.0.1 true 2>&1 | tail -n 1"
    )
    return shell.run(machine.endpoint, ask).stdout


def test_access_lets_the_requester_in_with_their_key_and_turns_passwords_off(tmp_path: Path) -> None:
    with running_machine(tmp_path) as machine:
        shell = OpenSsh(machine.private_key)
        requester = make_key(tmp_path, "requester")
        access = decide_access({"octo-cat": [requester.with_suffix(".pub").read_text().strip()]})
        assert isinstance(access, Access)
        assert "password" in _password_methods(machine, shell)
        shell.run(machine.endpoint, "printf '%s' 'ssh-rsa AAAA no-newline-at-the-end' >> ~/.ssh/authorized_keys")

        for _ in range(2):
            output = shell.run(machine.endpoint, build_access_script(access, NONCE))
            assert parse_access_output(output.stdout, NONCE) is None, output

        keys = shell.run(
            machine.endpoint, "cat ~/.ssh/authorized_keys; stat -c %a ~/.ssh/authorized_keys"
        ).stdout.splitlines()
        assert keys.count(access.keys[0].line) == 1
        assert "ssh-rsa AAAA no-newline-at-the-end" in keys
        assert keys[-1] == "600"
        assert "Permission denied (publickey)" in _password_methods(machine, shell)
        theirs = OpenSsh(requester.read_bytes())
        assert theirs.run(machine.endpoint, "echo in").stdout == "in\n"
        config = shell.run(machine.endpoint, "cat /etc/ssh/sshd_config").stdout
        assert config.count("PasswordAuthentication no") == 1
        assert f"Port {machine.endpoint.port}" in config
        theirs.close()
        shell.close()


SLOW_SSHD = """\
#!/bin/bash
# As on a busy machine: between its sockets' end and their start anew it takes its time.
case " $* " in *" -R "* | *" -t "*) ;; *) sleep 1 ;; esac
exec -a /usr/sbin/sshd /usr/sbin/sshd.itself "$@"
"""


def test_who_comes_right_behind_the_access_is_let_in(tmp_path: Path) -> None:
    """Told to read its configuration anew, sshd listens to nobody for a moment: an `up` ended there, its machine with it."""
    lay_over(tmp_path, "usr/sbin/sshd", SLOW_SSHD, 0o755)
    shutil.copy("/usr/sbin/sshd", tmp_path / "laid_over/usr/sbin/sshd.itself")
    with running_machine(tmp_path) as machine:
        shell = OpenSsh(machine.private_key)
        access = decide_access({"octo-cat": [make_key(tmp_path, "requester").with_suffix(".pub").read_text().strip()]})
        assert isinstance(access, Access)
        for _ in range(2):
            output = shell.run(machine.endpoint, build_access_script(access, NONCE))
            with socket.create_connection((machine.endpoint.host, machine.endpoint.port), 5) as connection:
                assert connection.recv(4) == b"SSH-"
            assert parse_access_output(output.stdout, NONCE) is None, output
        shell.close()


def test_access_says_what_failed(tmp_path: Path) -> None:
    with running_machine(tmp_path) as machine:
        shell = OpenSsh(machine.private_key)
        access = decide_access({"octo-cat": [make_key(tmp_path, "requester").with_suffix(".pub").read_text().strip()]})
        assert isinstance(access, Access)
        shell.run(machine.endpoint, "echo NoSuchOption yes >> /etc/ssh/sshd_config")

        output = shell.run(machine.endpoint, build_access_script(access, NONCE))

        assert "NoSuchOption" in str(parse_access_output(output.stdout, NONCE))
        assert shell.run(machine.endpoint, "ls /etc/ssh").stdout.split() == [
            "ssh_host_ed25519_key",
            "ssh_host_ed25519_key.pub",
            "sshd_config",
        ]
        shell.close()


def test_a_machine_answers_as_before_only_with_its_own_host_key(machine: Machine, shell: OpenSsh) -> None:
    pinned = replace(machine.endpoint, host_key=shell.host_key(machine.endpoint))
    assert shell.answers_as_before(pinned)
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    assert not shell.answers_as_before(replace(pinned, host_key=other))
    assert not shell.answers_as_before(machine.endpoint), "none was pinned"
    assert not shell.answers_as_before(replace(pinned, port=free_port()))
    assert not shell.answers_as_before(replace(pinned, host="-oProxyCommand=id"))


def test_a_refused_key_names_what_no_longer_works_and_how_to_end_it(machine: Machine, tmp_path: Path) -> None:
    stranger = OpenSsh(make_key(tmp_path).read_bytes())
    try:
        with pytest.raises(OperatorError) as caught:
            stranger.run(machine.endpoint, "true")
    finally:
        stranger.close()
    explanation = caught.value.explanation
    assert caught.value.reason_code == "ssh_key_refused"
    for word in ("`run`", "`logs`", "`validate`", "`share`", "Your own login does", "\n/gpu-lol down"):
        assert word in explanation.fix
    said = f"{explanation.what} {explanation.why}"
    assert machine.endpoint.host not in said
    assert str(machine.endpoint.port) not in said


def test_what_ssh_says_of_an_address_does_not_name_it(machine: Machine, shell: OpenSsh) -> None:
    nobody = replace(machine.endpoint, port=free_port(), host_key=shell.host_key(machine.endpoint))
    with pytest.raises(TransientError) as caught:
        shell.run(nobody, "true")
    assert "connect to host the machine" in caught.value.explanation.why
    assert str(nobody.port) not in caught.value.explanation.why
