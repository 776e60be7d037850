"""`ssh_details: encrypted`: who may log in reads the address with the real `age`, and nobody else reads it anywhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gpu_lol_action.adapters.age import RecordSeal, armor
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.domain.environment import State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.handlers.remote import handle_logs
from gpu_lol_action.handlers.seal import hide_addresses
from gpu_lol_action.handlers.share import handle_share
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.handlers.up import handle_up
from gpu_lol_action.launch.keys import derive_key_pair
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\nmeta: {workload_type: training}\n"
HOST, PORT = "203.0.113.7", "41822"
ENCRYPTED = replace(POLICY, ssh_details="encrypted")


@dataclass
class Person:
    """Somebody's home, with SSH keys as ssh-keygen makes them."""

    home: Path
    public: list[str]

    def paste(self, comment: str) -> subprocess.CompletedProcess[str]:
        """Paste the comment's first block into a terminal."""
        block = re.search(r"^```\n(age .*?)^```$", comment, re.DOTALL | re.MULTILINE)
        assert block, comment
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            ["bash", "-c", block[1]], env=environment, capture_output=True, text=True, timeout=60, check=False
        )


def person(home: Path, *kinds: str) -> Person:
    (home / ".ssh").mkdir(parents=True)
    public = []
    for kind in kinds:
        file = home / ".ssh" / f"id_{kind}"
        size = {"rsa": ["-b", "3072"]}.get(kind, [])
        subprocess.run(["ssh-keygen", "-q", "-t", kind, *size, "-N", "", "-f", str(file)], check=True)
        public.append(" ".join(file.with_suffix(".pub").read_text().split()[:2]))
    return Person(home, public)


def seal_of(secret: str) -> RecordSeal:
    pair = derive_key_pair(secret, 5, 1)
    return RecordSeal(lambda: (pair.private_pem, pair.public_line))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    bench.ledger = ledger(tmp_path, seal_of("rpa_first_key_of_the_account"))
    bench.context = replace(bench.context, ledger=bench.ledger, seal=armor)
    yield bench
    bench.assert_nothing_bills_unnoticed()


def ledger(folder: Path, seal: RecordSeal | None) -> RecordLedger:
    return RecordLedger(FileStore(folder / "ledger"), seal)


def up(bench: Bench, **changes: object) -> Outcome:
    return handle_up(bench.context, bench.order(policy=ENCRYPTED, **changes))


def everything_stored(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted((folder / "ledger").rglob("*")) if path.is_file())


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_the_requester_opens_the_ready_comment_with_one_command(bench: Bench, tmp_path: Path, kind: str) -> None:
    ada = person(tmp_path / "ada", kind)
    bench.forge.keys["ada"] = ada.public
    outcome = up(bench)
    assert outcome.reason_code == "launched"
    opened = ada.paste(bench.texts[-1])
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.startswith(f"ssh -p {PORT} -o IdentitiesOnly=yes")
    assert f"root@{HOST}\n" in opened.stdout
    assert f"[{HOST}]:{PORT} ssh-ed25519 " in opened.stdout, "the host key, so that the first login asks nothing"
    for text in (*bench.texts, outcome.text, everything_stored(tmp_path)):
        assert HOST not in text
        assert PORT not in text


def test_a_stranger_opens_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ed25519").public
    up(bench)
    opened = person(tmp_path / "eve", "ed25519").paste(bench.texts[-1])
    assert opened.returncode != 0
    assert HOST not in opened.stdout


def test_keys_that_age_cannot_use_are_named_and_nothing_is_launched(bench: Bench, tmp_path: Path) -> None:
    sk = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIBh5H6IcrGtD36BDHpFA7HAGA0oBsc4U3fR1q1M8mGQAAAAABHNzaDo="
    bench.forge.keys["ada"] = [*person(tmp_path / "ada", "ecdsa").public, sk]
    outcome = up(bench)
    assert (outcome.decision, outcome.reason_code) == ("denied", "ssh_key_cannot_decrypt")
    for word in ("ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com", "ssh-keygen -t ed25519", "Nothing was launched."):
        assert word in bench.texts[-1]
    assert bench.ledger.entries() == []
    assert not [line for line in bench.cloud.log if line.startswith("launch")]


def test_a_key_that_only_looks_right_is_refused_before_anything_is_spent(bench: Bench) -> None:
    bench.forge.keys["ada"] = ["ssh-rsa " + "AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + "D" + "/" * 341 + "w=="]
    bench.context = replace(bench.context, seal=refuse_all)
    bench.forge.keys["ada"] = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"]
    assert up(bench).reason_code == "ssh_key_cannot_decrypt"
    assert bench.ledger.entries() == []


def refuse_all(_text: str, _keys: object) -> str:
    raise ValueError("none of the keys is one that age encrypts to")


def test_a_key_that_cannot_open_it_beside_one_that_can_is_said(bench: Bench, tmp_path: Path) -> None:
    ada = person(tmp_path / "ada", "ecdsa", "ed25519")
    bench.forge.keys["ada"] = ada.public
    up(bench)
    assert "`ecdsa-sha2-nistp256 of ada`" in bench.texts[-1]
    assert ada.paste(bench.texts[-1]).returncode == 0


def test_who_it_is_shared_with_opens_their_own_comment(bench: Bench, tmp_path: Path) -> None:
    ada, grace = person(tmp_path / "ada", "ed25519"), person(tmp_path / "grace", "rsa")
    bench.forge.keys |= {"ada": ada.public, "grace": grace.public}
    up(bench)
    shared = handle_share(bench.context, bench.order("/gpu-lol share @grace", policy=ENCRYPTED, share=("grace",)))
    assert shared.reason_code == "shared"
    assert grace.paste(bench.texts[-1]).stdout.endswith(f"root@{HOST}\n") or HOST in grace.paste(bench.texts[-1]).stdout
    assert ada.paste(bench.texts[-1]).returncode != 0
    assert HOST not in bench.texts[-1]


def test_share_with_somebody_who_could_not_read_it_changes_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys |= {"ada": person(tmp_path / "ada", "ed25519").public}
    bench.forge.keys |= {"grace": person(tmp_path / "grace", "ecdsa").public}
    up(bench)
    refused = handle_share(bench.context, bench.order("/gpu-lol share @grace", policy=ENCRYPTED, share=("grace",)))
    assert refused.reason_code == "ssh_key_cannot_decrypt"
    assert bench.record.shared == ()


def test_up_with_share_encrypts_to_both(bench: Bench, tmp_path: Path) -> None:
    ada, grace = person(tmp_path / "ada", "ed25519"), person(tmp_path / "grace", "ed25519")
    bench.forge.keys |= {"ada": ada.public, "grace": grace.public}
    up(bench, share=("grace",))
    assert all(HOST in each.paste(bench.texts[-1]).stdout for each in (ada, grace))


def test_a_run_without_the_key_keeps_what_it_cannot_read(bench: Bench, tmp_path: Path) -> None:
    """The job that decides holds no cloud key, and writes tombstones."""
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ed25519").public
    up(bench)
    blind = ledger(tmp_path, None)
    (entry,) = blind.entries()
    assert isinstance(entry, Entry)
    assert entry.record.ssh is None
    bench.context = replace(bench.context, ledger=blind)
    write_tombstone(bench.context, entry, Tombstone("ada", "down", bench.clock.now()))
    (seen,) = ledger(tmp_path, seal_of("rpa_first_key_of_the_account")).entries()
    assert isinstance(seen, Entry)
    assert seen.record.state is State.ENDING
    assert seen.record.ssh is not None
    assert (seen.record.ssh.host, str(seen.record.ssh.port)) == (HOST, PORT)
    assert HOST not in everything_stored(tmp_path)


def test_after_another_key_the_address_is_gone_and_the_answer_says_so(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ed25519").public
    up(bench)
    bench.context = replace(bench.context, ledger=ledger(tmp_path, seal_of("rpa_second_key_of_the_account")))
    assert handle_logs(bench.context, bench.order("/gpu-lol logs")).reason_code == "not_ready"
    assert "encrypted to the key that belonged to the cloud's key" in bench.texts[-1]
    assert "/gpu-lol down" in bench.texts[-1]


def test_up_again_points_to_the_comment_and_shows_no_address(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ed25519").public
    up(bench)
    bench.context = replace(bench.context, ledger=ledger(tmp_path, None))
    assert up(bench).reason_code == "already_running"
    assert "Already running" in bench.texts[-1]
    assert "encrypted in the comment that said it is ready" in bench.texts[-1]
    assert HOST not in bench.texts[-1]


def test_addresses_in_what_skypilot_says_are_hidden(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ed25519").public
    said = f"ssh: connect to host {HOST} port {PORT}: Connection refused"
    bench.cloud.answers.append(NotLaunched("failed", said, is_certain=True))
    outcome = up(bench)
    assert outcome.reason_code == "launch_failed"
    for text in (*bench.texts, outcome.text):
        assert HOST not in text
    assert "connect to host (address): Connection refused" in bench.texts[-1]


def test_versions_are_no_addresses() -> None:
    hide = hide_addresses(lambda text: text)
    kept = "Downloading nvidia_cublas_cu12-12.4.5.8-py3-none-any.whl, nvidia-nccl==2.21.5.1, see 10.0.0.1"
    assert hide(kept) == kept
    assert hide("root@10.1.2.3, 10.1.2.3:22, host 10.1.2.3 port 22") == "root@(address), (address), host (address)"


def test_the_redactor_leaves_what_is_encrypted_alone(tmp_path: Path) -> None:
    keys = person(tmp_path / "ada", "ed25519").public
    for number in range(200):
        armored = armor(f"ssh -p {number} root@{HOST}\n" * 40, keys)
        assert redact(armored) == armored


def test_plain_is_the_default_and_stays_as_it_was(bench: Bench, tmp_path: Path) -> None:
    bench.forge.keys["ada"] = person(tmp_path / "ada", "ecdsa").public
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert f"ssh -p {PORT}" in bench.texts[-1]
    assert bench.record.sealed_ssh == ""
