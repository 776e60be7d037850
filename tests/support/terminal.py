"""``gpu-lol`` in a terminal: a child process on a checkout, with a home of its own and the guard in front."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.local_forge import LocalForge
from gpu_lol_action.rehearsal.stage import PACKAGE_ROOT
from tests.support.doors import KEY, SPEC
from tests.support.guard import GUARD


@dataclass
class Terminal:
    """A checkout, a home, and ``gpu-lol`` as a child process there."""

    folder: Path
    home: Path
    guard: Path

    def run(self, *words: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        seen = self.guard / "seen"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PYTHONPATH": f"{self.guard}{os.pathsep}{PACKAGE_ROOT}",
            "GUARD_LOG": str(seen),
            "PYTHONIOENCODING": "utf-8",
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-m", "gpu_lol_action.cli", *words],
            cwd=folder or self.folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert not seen.exists(), f"heavy imports: {seen.read_text()}"
        assert "Traceback" not in done.stderr
        return done

    def git(self, *words: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", *identity, *words], cwd=self.folder, check=True, capture_output=True)

    @property
    def ledger(self) -> RecordLedger:
        forge = LocalForge(self.folder, lambda _body: None, home=self.home, environment=os.environ)
        name = forge.repository().full_name.replace("/", "+")
        return RecordLedger(FileStore(self.home / "state" / "gpu-lol" / "ledger" / name))

    @property
    def repository_id(self) -> int:
        forge = LocalForge(self.folder, lambda _body: None, home=self.home, environment=os.environ)
        return forge.repository().repository_id


def open_terminal(folder: Path) -> Terminal:
    """Make a checkout with a spec, and a home with one SSH key."""
    (folder / "guard").mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(GUARD)
    (folder / "home" / ".ssh").mkdir(parents=True)
    (folder / "home" / ".ssh" / "id_ed25519.pub").write_text(f"{KEY} ada@laptop\n")
    place = Terminal(folder / "lab", folder / "home", folder / "guard")
    place.folder.mkdir()
    (place.folder / ".gpu-lol.yaml").write_text(SPEC)
    (place.folder / "train.py").write_text("import torch\n")
    (place.folder / "requirements.txt").write_text("torch\n")
    place.git("init", "-q", "-b", "main")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "First")
    return place
