"""What the GitHub and ledger tests share: a started stand-in, a clock that only moves when told, and a forge."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import httpx

from gpu_lol_action.adapters.github import Connection
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.github_setting import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2026, 11, 20, 16, 0, tzinfo=timezone.utc)
FILES = {
    "README.md": "# Lab\n",
    "train.py": "print('train')\n",
    ".gpu-lol.yaml": "hardware: {gpu_type: RTX4090}\n",
    "src/deep/model.py": "x = 1\n",
    "run.sh": "#!/bin/sh\n",
    "latest": ("symlink", "train.py"),
    "outside": ("symlink", "/etc/passwd"),
}


@dataclass
class TickingClock:
    """Time that passes only in `sleep`; what was slept is kept."""

    moment: datetime = START
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.moment

    def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration.total_seconds())
        self.moment += duration


@dataclass
class Place:
    """A stand-in with one open pull request by @ada, and whatever looks at it is closed at the end."""

    hub: Hub
    clock: TickingClock
    notes: list[str]
    number: int
    head: str
    until_end: ExitStack

    def forge(self, token: str | None = None) -> GitHubForge:
        connection = Connection(
            token=token or self.hub.bot_token, full_name=self.hub.setting.full_name, api_url=self.hub.api_url
        )
        forge = GitHubForge(connection, Hands(self.clock.now, self.clock.sleep, self.notes.append))
        self.until_end.callback(forge.close)
        return forge

    def http(self, token: str | None = None) -> httpx.Client:
        base = f"{self.hub.api_url}/repos/{self.hub.setting.full_name}"
        headers = {"Authorization": f"Bearer {token or self.hub.bot_token}"}
        return self.until_end.enter_context(httpx.Client(base_url=base, headers=headers))


@contextmanager
def started_place(root: Path, setting: Setting | None = None) -> Iterator[Place]:
    """Start everything; a story that leaves something unexpected behind checks `hub.problems()` itself."""
    clock = TickingClock()
    with Hub(root, now=clock.now, setting=setting) as hub:
        hub.commit(FILES, message="First")
        hub.add_user("ada", role="write", ssh_keys=["ssh-ed25519 AAAAC3Nza+/w== ada@laptop"])
        opened = hub.open_pull_request("ada", {"train.py": "print('longer')\n", "new.txt": "n\n"}, title="Train longer")
        head = opened.payload["pull_request"]["head"]["sha"]
        with ExitStack() as until_end:
            yield Place(hub, clock, [], opened.payload["number"], head, until_end)
