"""The lease on a real machine: warnings on a real terminal, idleness by real sessions, the end asked of a platform."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import Lease
from gpu_lol_action.domain.machine import Look
from gpu_lol_action.launch.lease import (
    Watch,
    build_lease_script,
    build_look_script,
    parse_lease_output,
    parse_look_output,
)
from tests.fixtures.machines.machine import STAND_IN_FACTS, Machine, lay_stand_ins, running_machine

NONCE = "0123456789abcdef"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc)


class Platform(http.server.BaseHTTPRequestHandler):
    """What RunPod is for a pod: it takes the pod's own key and a mutation."""

    asked: list[tuple[str, str, str]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append((self.path, self.headers.get("Authorization", ""), body["query"]))
        answer = b'{"data": {"podTerminate": null}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        return


@pytest.fixture(scope="module")
def asked() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    handler = type("Asked", (Platform,), {"asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", handler.asked
        server.shutdown()


@pytest.fixture(scope="module")
def machine(
    tmp_path_factory: pytest.TempPathFactory, asked: tuple[str, list[tuple[str, str, str]]]
) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    lay_stand_ins(folder, dict(STAND_IN_FACTS))
    # The first process of a pod has these; nothing else on the machine does.
    given = {"RUNPOD_POD_ID": "pod-1", "RUNPOD_API_KEY": "scoped-key-of-pod-1", "RUNPOD_API_BASE_URL": asked[0]}
    (folder / "environment").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    with running_machine(folder) as started:
        yield started


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    yield shell
    # The next test has a machine on which nobody watches.
    shell.run(machine.endpoint, 'kill "$(cat ~/.gpu-lol/watch.pid)"; rm -rf ~/.gpu-lol')


WITH_CHECKPOINT = (
    "cd ~ && rm -rf lab && git init -q lab && cd lab && git config user.email a@b && git config user.name a"
    " && echo weights > .gitignore && git add .gitignore && git commit -qm one && mkdir -p weights/deep"
    " && echo 1 > weights/deep/last.pt && echo 1 > weights/log"
)
OVER = 'read -r up _ < /proc/uptime; [ "${up%%.*}" -gt "$(cat ~/.gpu-lol/ends_at)" ] && echo yes'


def tell(
    shell: OpenSsh,
    machine: Machine,
    left: timedelta,
    sha: str = "0" * 40,
    grace: timedelta = timedelta(0),
    keep: tuple[str, ...] = (),
) -> None:
    watch = Watch(Lease(NOW, NOW + left), "lab", sha, grace, keep)
    script = build_lease_script(watch, NOW, NONCE, watch_every=timedelta(seconds=1))
    assert parse_lease_output(shell.run(machine.endpoint, script).stdout, NONCE) is None


def ask(shell: OpenSsh, machine: Machine, command: str) -> str:
    return shell.run(machine.endpoint, command).stdout.strip()


def wait_for(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.3)
    return True


@contextmanager
def somebody_logged_in(machine: Machine, tmp_path: Path) -> Iterator[Path]:
    """A person at a terminal; what appears there is in the file."""
    key, screen = tmp_path / "key", tmp_path / "screen"
    key.write_bytes(machine.private_key)
    key.chmod(0o600)
    options = ["-tt", "-F", "none", "-i", str(key), "-p", str(machine.endpoint.port), "-o", "LogLevel=ERROR"]
    options += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    with screen.open("wb") as output:
        session = subprocess.Popen(
            ["ssh", *options, "root@127.0.0.1", "echo here; sleep 300"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )
        try:
            assert wait_for(lambda: b"here" in screen.read_bytes())
            yield screen
        finally:
            session.kill()
            session.wait()


def idle_since(shell: OpenSsh, machine: Machine) -> bool:
    return ask(shell, machine, "test -f ~/.gpu-lol/idle_since && echo yes") == "yes"


def test_machine_says_at_login_when_it_ends_and_watches_once(machine: Machine, shell: OpenSsh) -> None:
    tell(shell, machine, timedelta(hours=2))
    first = ask(shell, machine, "cat ~/.gpu-lol/ends_at; cat ~/.gpu-lol/watch.pid").split()
    tell(shell, machine, timedelta(hours=5))
    second = ask(shell, machine, "cat ~/.gpu-lol/ends_at; cat ~/.gpu-lol/watch.pid").split()

    assert 3 * 3600 - 5 <= int(second[0]) - int(first[0]) <= 3 * 3600 + 5, "the end has moved by three hours"
    assert first[1] == second[1], "the watcher that runs reads the new end"
    # The shell's own children bear its name for a moment; a second watcher would stay.
    assert wait_for(lambda: ask(shell, machine, "pgrep -fc '[w]atch.sh'") == "1")
    motd = ask(shell, machine, "cat /etc/motd")
    assert motd.count("This machine ends at 2026-11-20 17:00 UTC") == 1
    assert "14:00" not in motd


def test_machine_is_idle_when_nobody_is_there_and_not_while_somebody_is(
    machine: Machine, shell: OpenSsh, tmp_path: Path
) -> None:
    tell(shell, machine, timedelta(hours=2))
    assert wait_for(lambda: idle_since(shell, machine))
    with somebody_logged_in(machine, tmp_path):
        assert wait_for(lambda: not idle_since(shell, machine))
        assert look(shell, machine).idle == timedelta(0)
    assert wait_for(lambda: idle_since(shell, machine))
    assert wait_for(lambda: (look(shell, machine).idle or timedelta(0)) >= timedelta(seconds=2))


@pytest.mark.parametrize("facts", [{"utilization_percent": 40}, {"utilization_percent": "[N/A]"}])
def test_machine_is_not_idle_while_its_gpu_works_or_cannot_be_asked(
    machine: Machine, shell: OpenSsh, facts: dict[str, object]
) -> None:
    tell(shell, machine, timedelta(hours=2))
    assert wait_for(lambda: idle_since(shell, machine))
    busy = json.dumps({**STAND_IN_FACTS, **facts})
    put = "cp /etc/gpu-lol-stand-in.json /tmp/facts; cat > /etc/gpu-lol-stand-in.json"
    shell.run(machine.endpoint, put, stdin=busy.encode())
    try:
        assert wait_for(lambda: not idle_since(shell, machine))
    finally:
        shell.run(machine.endpoint, "cp /tmp/facts /etc/gpu-lol-stand-in.json")


def test_machine_warns_who_is_logged_in_once_and_anew_after_an_extension(
    machine: Machine, shell: OpenSsh, tmp_path: Path
) -> None:
    with somebody_logged_in(machine, tmp_path) as screen:
        tell(shell, machine, timedelta(minutes=12))
        assert wait_for(lambda: b"this machine ends in 12 minutes, at 2026-11-20 12:12 UTC" in screen.read_bytes())
        time.sleep(3)
        assert screen.read_bytes().count(b"this machine ends in") == 1
        tell(shell, machine, timedelta(minutes=25))
        assert wait_for(lambda: b"this machine ends in 25 minutes" in screen.read_bytes())


def test_machine_ends_itself_with_the_key_that_is_good_for_it_alone(
    machine: Machine, shell: OpenSsh, asked: tuple[str, list[tuple[str, str, str]]]
) -> None:
    tell(shell, machine, timedelta(seconds=2))

    assert wait_for(lambda: bool(asked[1]))
    path, authorization, query = asked[1][0]
    assert (path, authorization) == ("/graphql", "Bearer scoped-key-of-pod-1")
    assert query == 'mutation { podTerminate(input: {podId: "pod-1"}) }'
    assert "scoped-key" not in ask(shell, machine, "cat ~/.gpu-lol/*; ps -eo args")


def test_machine_leaves_work_that_is_only_there_to_the_sweeper_for_a_while(
    machine: Machine, shell: OpenSsh, asked: tuple[str, list[tuple[str, str, str]]]
) -> None:
    make = "cd ~ && rm -rf lab && git init -q lab && cd lab && git config user.email a@b && git config user.name a"
    sha = ask(shell, machine, f"{make} && echo 1 > one && git add one && git commit -qm one && git rev-parse HEAD")
    ask(shell, machine, "echo 2 > ~/lab/new")
    asked[1].clear()
    tell(shell, machine, timedelta(seconds=1), sha, timedelta(minutes=67))
    time.sleep(6)
    assert not asked[1], "the sweeper can still save it"

    ask(shell, machine, "cd ~/lab && git add new && git commit -qm two")
    time.sleep(4)
    assert not asked[1], "a commit that is nowhere else is work too"

    ask(shell, machine, "cd ~/lab && git reset -q --hard HEAD~1")
    assert wait_for(lambda: bool(asked[1])), "nothing is left to save"


def test_machine_leaves_files_to_the_sweeper_that_git_ignores_and_the_spec_keeps(
    machine: Machine, shell: OpenSsh, asked: tuple[str, list[tuple[str, str, str]]]
) -> None:
    sha = ask(shell, machine, f"{WITH_CHECKPOINT} && git rev-parse HEAD")
    asked[1].clear()
    tell(shell, machine, timedelta(seconds=1), sha, timedelta(minutes=67), ("weights/**/*.pt", "no such", "-rf"))
    assert wait_for(lambda: ask(shell, machine, OVER) == "yes")
    for _ in range(2):
        # The watch notes idleness anew in each round: what it did in a round after the end is done by then.
        ask(shell, machine, "rm -f ~/.gpu-lol/idle_since")
        assert wait_for(lambda: idle_since(shell, machine))
    assert not asked[1], "the sweeper can still save it"

    ask(shell, machine, "rm -r ~/lab/weights")
    assert wait_for(lambda: bool(asked[1])), "nothing is left to save"


def test_machine_ends_in_spite_of_unsaved_work_when_the_grace_is_over(
    machine: Machine, shell: OpenSsh, asked: tuple[str, list[tuple[str, str, str]]]
) -> None:
    ask(shell, machine, "cd ~ && rm -rf lab && git init -q lab && echo 1 > lab/new")
    asked[1].clear()
    tell(shell, machine, timedelta(seconds=1), grace=timedelta(seconds=5))
    assert wait_for(lambda: bool(asked[1]))


def look(
    shell: OpenSsh,
    machine: Machine,
    sha: str = "0" * 40,
    folder: str = "no-such-folder",
    keep: tuple[str, ...] = (),
) -> Look:
    script = build_look_script(folder, sha, NONCE, keep)
    found = parse_look_output(shell.run(machine.endpoint, script).stdout, NONCE)
    assert found is not None
    return found


def test_look_counts_what_would_be_lost(machine: Machine, shell: OpenSsh) -> None:
    sha = ask(
        shell,
        machine,
        "cd ~ && rm -rf lab && git init -q lab && cd lab && git config user.email a@b && git config user.name a"
        " && echo 1 > one && git add one && git commit -qm one && git rev-parse HEAD",
    )
    assert look(shell, machine, sha, "lab") == Look(None, 0, 0, 0)
    assert not look(shell, machine, sha, "lab").has_unsaved_work

    hook = "echo ran > ~/hook-ran"
    shell.run(
        machine.endpoint,
        f"cd ~/lab && git config core.fsmonitor '{hook}' && echo 2 > one && echo 3 > 'new file' && echo 4 > four"
        " && git add four && git commit -qm four",
    )
    ask(shell, machine, "rm -f ~/hook-ran")
    assert look(shell, machine, sha, "lab") == Look(None, 1, 1, 1)
    assert ask(shell, machine, "ls ~/hook-ran 2>/dev/null") == "", "a look runs nothing of the checkout"


def test_look_counts_what_git_ignores_where_the_spec_keeps_it(machine: Machine, shell: OpenSsh) -> None:
    sha = ask(shell, machine, f"{WITH_CHECKPOINT} && git rev-parse HEAD")
    assert look(shell, machine, sha, "lab") == Look(None, 0, 0, 0)
    found = look(shell, machine, sha, "lab", ("weights/**/*.pt", "../../etc/passwd", "$(id)"))
    assert found == Look(None, 0, 0, 0, kept=1)
    assert found.has_unsaved_work


def test_look_says_nothing_of_what_it_cannot_see(machine: Machine, shell: OpenSsh) -> None:
    found = look(shell, machine)

    assert found == Look(None, None, None, None)
    assert found.has_unsaved_work, "what could not be counted may be something"


@pytest.mark.parametrize("output", ["", "::gpu-lol-look ffffffffffffffff done .", f"::gpu-lol-look {NONCE} changed 3"])
def test_look_that_did_not_end_or_is_forged_is_none(output: str) -> None:
    assert parse_look_output(output, NONCE) is None


def test_look_refuses_what_is_no_commit() -> None:
    with pytest.raises(ValueError, match="no commit"):
        build_look_script("lab", "HEAD; rm -rf /", NONCE)
