"""`gpu-lol snapshot` of a real machine over SSH in a terminal, and `gpu-lol resume` of what it wrote."""

from __future__ import annotations

import dataclasses
import getpass
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.launch.keys import derive_key_pair
from gpu_lol_action.launch.setup import SetupRequest, build_setup_script, parse_setup_output
from tests.fixtures.machines.machine import Machine, running_machine
from tests.support.doors import put_record
from tests.support.terminal import Terminal

NONCE = "0123456789abcdef"
CLOUD_KEY = "rpa_" + "k" * 40
# A distribution that came after set-up, without an index: what pip leaves of one.
INSTALL = """
set -e
P=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/later_pack-1.5.dist-info
mkdir -p "$P"; printf 'Metadata-Version: 2.1\\nName: later-pack\\nVersion: 1.5\\n' > "$P/METADATA"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    folder = tmp_path / "machine"
    folder.mkdir()
    with running_machine(folder) as started:
        yield started


def hand_over(terminal: Terminal, machine: Machine) -> EnvironmentRecord:
    """Put the machine on this terminal's record, with the key that it would have derived there, after a set-up."""
    pair = derive_key_pair(CLOUD_KEY, terminal.repository_id, 1)
    shell = OpenSsh(machine.private_key)
    shell.run(machine.endpoint, f"mkdir -p ~/code; echo '{pair.public_line}' >> ~/.ssh/authorized_keys")
    request = SetupRequest(Dependencies(), "code", {}, {"image": "example/train:1"})
    reading = parse_setup_output(shell.run(machine.endpoint, build_setup_script(request, NONCE)).stdout, NONCE)
    assert reading.failed is None, reading
    endpoint = dataclasses.replace(machine.endpoint, host_key=shell.host_key(machine.endpoint))
    assert shell.run(machine.endpoint, INSTALL).exit_code == 0
    shell.close()
    record = put_record(terminal.ledger, terminal.repository_id, None, getpass.getuser())
    entry = terminal.ledger.read(record.name)
    assert isinstance(entry, Entry)
    terminal.ledger.update(entry, dataclasses.replace(entry.record, ssh=endpoint))
    return record


def test_a_snapshot_is_written_and_resumed(terminal: Terminal, machine: Machine) -> None:
    record = hand_over(terminal, machine)

    piped = terminal.run("snapshot", RUNPOD_API_KEY=CLOUD_KEY)
    assert piped.returncode == 0, piped.stderr
    spec = parse_spec(piped.stdout)
    assert spec.dependencies.requirements == ("torch", "later-pack==1.5")
    assert spec.hardware.gpu_type == "A40"
    assert spec.environment.base_image == "example/train:1"
    assert spec.meta.created_from == "snapshot"
    assert f"gpu-lol resume {record.name}" in piped.stderr

    written = terminal.run("snapshot", "--output", "snap.yaml", RUNPOD_API_KEY=CLOUD_KEY)
    assert written.returncode == 0, written.stderr
    assert (terminal.folder / "snap.yaml").read_text() == piped.stdout
    assert "later-pack==1.5" in written.stdout
    assert "Written to snap.yaml." in written.stdout

    # The machine still runs: another one is rented by another command, and this one says so.
    again = terminal.run("resume", "snap.yaml", "--dry-run", RUNPOD_API_KEY=CLOUD_KEY)
    assert record.name in again.stdout
    subprocess.run(["rm", "-r", str(terminal.home / "state/gpu-lol/ledger")], check=True)  # as after its end
    for word in ("snap.yaml", record.name):
        resumed = terminal.run("resume", word, "--dry-run", RUNPOD_API_KEY=CLOUD_KEY)
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        assert "A40" in resumed.stdout
        assert "RTX4090" not in resumed.stdout
    assert "RTX4090" in terminal.run("up", "--dry-run", RUNPOD_API_KEY=CLOUD_KEY).stdout


def test_what_is_resumed_is_of_the_project_that_its_machine_was_of(terminal: Terminal) -> None:
    for path, text in {
        ".github/gpu-lol.yml": "analysis: {folders: [llm, vision]}\n",
        "llm/train.py": "",
        "vision/train.py": "",
    }.items():
        (terminal.folder / path).parent.mkdir(exist_ok=True)
        (terminal.folder / path).write_text(text)
    terminal.git("add", ".")
    terminal.git("commit", "-q", "-m", "Two projects")
    record = put_record(terminal.ledger, terminal.repository_id, None, getpass.getuser(), "vision")
    kept = next((terminal.home / "state/gpu-lol/ledger").iterdir()).name
    snapshots = terminal.home / "state/gpu-lol/snapshots" / kept
    snapshots.mkdir(parents=True)
    (snapshots / f"{record.name}.yaml").write_text("hardware: {gpu_type: A40, gpu_count: 1}\n")
    resumed = terminal.run("resume", record.name, "--dry-run", RUNPOD_API_KEY=CLOUD_KEY)
    assert f"{record.name} (profile vision)" in " ".join(resumed.stdout.split())
    inside = terminal.run("resume", record.name, "--dry-run", folder=terminal.folder / "llm", RUNPOD_API_KEY=CLOUD_KEY)
    assert f"{record.name} (profile vision)" in " ".join(inside.stdout.split())
    other = terminal.run("resume", record.name, "--dry-run", "--project", "llm", RUNPOD_API_KEY=CLOUD_KEY)
    assert "Dry run: 1 × A40" in other.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("resume",), "needs a file or an environment"),
        (("resume", "nosuch"), "There is no spec nosuch"),
        (("resume", "../../etc/passwd.d"), "There is no spec"),
        (("resume", "wrong.yaml"), "wrong.yaml"),
        (("snapshot",), "no machine runs here"),
    ],
)
def test_what_cannot_be_resumed_is_said(terminal: Terminal, words: tuple[str, ...], said: str) -> None:
    (terminal.folder / "wrong.yaml").write_text("hardware:\n  gpu_cuont: 1\n")
    done = terminal.run(*words, RUNPOD_API_KEY=CLOUD_KEY)
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
