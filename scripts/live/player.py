"""Somebody at a terminal: a home with an SSH key, a checkout, and `gpu-lol` as a child process there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provider import RunPod

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry

ROOT = Path(__file__).resolve().parents[2]
# Small, so that the cheapest card will do; `weights` is ignored by git and saved all the same.
FILES = {
    ".gpu-lol.yaml": """\
hardware: {gpu_count: 1, vram_required_gb: 8, disk_gb: 40}
dependencies: {requirements: [packaging]}
keep: [weights]
meta: {workload_type: training}
""",
    ".gitignore": "weights/\n",
    "train.py": "print('epoch 1')\n",
}
_LONGEST = 2400


@dataclass
class Player:
    """``variables`` hold the cloud's key; everything that must outlive an interruption lies in ``folder``."""

    folder: Path
    provider: RunPod
    variables: Mapping[str, str] = field(repr=False)

    @property
    def home(self) -> Path:
        """Where the SSH key and the ledger are."""
        return self.folder / "home"

    @property
    def checkout(self) -> Path:
        """The repository that machines are rented for."""
        return self.folder / "gpu-lol-live"

    def settle_in(self) -> None:
        """Make key and checkout where there are none yet, and end what an interrupted run has left."""
        key = self.home / ".ssh" / "id_ed25519"
        if not key.exists():
            key.parent.mkdir(parents=True)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        if not (self.checkout / ".git").exists():
            self.checkout.mkdir(parents=True, exist_ok=True)
            for name, content in FILES.items():
                (self.checkout / name).write_text(content)
            self._git("init", "-q", "-b", "main")
            self._git("add", "-A")
            self._git("commit", "-q", "-m", "Live")
        if any(record.is_open for record in self.records):
            print("An earlier run left a record open: it is ended first.", flush=True)
            self.gpu_lol("down")
            self.gpu_lol("sweep")
            left = [record.name for record in self.records if record.is_open]
            if left:
                raise SystemExit(f"Still open: {', '.join(left)}. Look at the provider, then: {self.by_hand}")

    @property
    def snapshot(self) -> Path:
        """Where the spec of a snapshot lies: beside the checkout, not in it."""
        return self.folder / "snapshot.yaml"

    def commit(self, name: str, content: str) -> None:
        """Commit a file as it is to be from now on."""
        (self.checkout / name).write_text(content)
        self._git("add", name)
        self._git("commit", "-q", "--allow-empty", "-m", "Live")

    def _git(self, *words: str) -> None:
        identity = ["-c", "user.name=live", "-c", "user.email=live@example.org"]
        subprocess.run(["git", *identity, *words], cwd=self.checkout, check=True)

    @property
    def by_hand(self) -> str:
        """The line that ends what is left, should this program not come to it."""
        return f"cd {self.checkout} && HOME={self.home} gpu-lol down"

    @property
    def environment(self) -> dict[str, str]:
        """What a child is given: nothing of ours but programs and the cloud's key."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SSL_CERT_FILE")}
        return {**kept, **self.variables, "HOME": str(self.home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        """Start `gpu-lol` in the checkout, in a session of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "gpu_lol_action.cli", *words],
            cwd=self.checkout,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def gpu_lol(self, *words: str, **variables: str) -> tuple[int, str]:
        """Run `gpu-lol` to its end; return its exit code and all that it said."""
        child = self.start(*words, **variables)
        try:
            said, _ = child.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            child.terminate()  # it tears down what it launched
            said, _ = child.communicate(timeout=_LONGEST)
        return child.returncode, said

    def ssh(self, command: str) -> str:
        """Log in as the ready comment says, with one's own key and the pinned host key, and run something."""
        record = self.newest
        if record.ssh is None or record.ssh.host_key is None:
            raise LookupError("there is no address to log in to")
        known = self.home / ".ssh" / "known_hosts"
        known.write_text(f"[{record.ssh.host}]:{record.ssh.port} {record.ssh.host_key}\n")
        options = ["-F", "none", "-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={known}", "-o", "BatchMode=yes"]
        target = f"{record.ssh.user}@{record.ssh.host}"
        line = [
            "ssh",
            *options,
            "-i",
            str(self.home / ".ssh" / "id_ed25519"),
            "-p",
            str(record.ssh.port),
            target,
            command,
        ]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
        return done.stdout.strip() or done.stderr.strip()

    @property
    def records(self) -> list[EnvironmentRecord]:
        """What is on record here, newest last."""
        folders = list((self.home / ".local" / "state" / "gpu-lol" / "ledger").glob("*"))
        entries = [entry for folder in folders for entry in RecordLedger(FileStore(folder)).entries()]
        found = [entry.record for entry in entries if isinstance(entry, Entry)]
        return sorted(found, key=lambda record: record.updated_at)

    @property
    def newest(self) -> EnvironmentRecord:
        """The record that was written last."""
        return self.records[-1]

    def machines(self) -> list[str]:
        """Names of our machines, as the provider lists them now."""
        prefix = re.match(r"gl-[a-z0-9]+", self.newest.name) if self.records else None
        return [name for name in self.provider.machines() if prefix and name.startswith(prefix[0])]


def wait_until(is_so: Callable[[], bool], seconds: float, every: float = 3.0) -> float | None:
    """Return after how many seconds something was so; None where it was not in that time."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if is_so():
            return time.monotonic() - began
        time.sleep(every)
    return None
