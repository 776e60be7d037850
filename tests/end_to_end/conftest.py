"""Stages for stories: each has its own GitHub stand-in and loopback cloud; the machines' image is built once."""

from __future__ import annotations

import io
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from gpu_lol_action.adapters.github import Connection, GitHubClient
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.image import ensure_image
from gpu_lol_action.rehearsal.stage import Stage

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
"""


@dataclass
class Scene:
    """A stage with an open pull request whose author and maintainer can command."""

    stage: Stage
    number: int

    @property
    def records(self) -> list[EnvironmentRecord]:
        """What the ledger holds, asked as a later run on another runner would."""
        hub = self.stage.hub
        client = GitHubClient(Connection(hub.bot_token, self.stage.full_name, hub.api_url), lambda _pause: None)
        return [e.record for e in RecordLedger(GitRefStore(client)).entries() if isinstance(e, Entry)]

    @property
    def bodies(self) -> list[str]:
        """The bot's comments, oldest first."""
        return [comment.body for comment in self.stage.hub.comments(self.number, by=self.stage.hub.bot.login)]

    def assert_nothing_left(self) -> None:
        """No machine, no request that GitHub or the cloud did not understand, no open record."""
        assert self.stage.open_cloud().pods() == []
        assert self.stage.open_cloud().unexpected() == []
        assert self.stage.hub.problems() == []
        assert [record.name for record in self.records if record.is_open] == []


@pytest.fixture(scope="session")
def image() -> Path:
    """Build the machines' image, or find it in the cache."""
    return ensure_image()


@pytest.fixture
def stage(image: Path) -> Iterator[Stage]:
    """Both stand-ins, running."""
    with Stage(image=image) as stage:
        stage.open_cloud()
        yield stage


@pytest.fixture
def scene(stage: Stage) -> Scene:
    """A pull request of a project with a spec, and a maintainer with an SSH key."""
    key = stage.folder / "maintainer_key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True)
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    stage.hub.add_user(stage.hub.maintainer, role="admin", ssh_keys=[public])
    stage.hub.commit({".gpu-lol.yaml": SPEC, "train.py": "import torch\n", "requirements.txt": "torch\n"})
    opened = stage.hub.open_pull_request("researcher", {"notes.md": "more\n"})
    return Scene(stage, int(opened.number or 0))


@pytest.fixture
def display() -> Display:
    """A display that nobody watches."""
    return Display(Console(file=io.StringIO(), width=120))


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Wait for something that another process does; fail with its name when it never comes."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"never happened: {what}")
        time.sleep(0.5)
