"""GitHub as the replayed suite sees it: the stand-in, or a real repository that a maintainer names.

    scripts/replay-contract OWNER/REPOSITORY

The real one is named by three variables that the script sets; without them the suite runs against the stand-in.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

from gpu_lol_action.adapters.github import Ask, Connection
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.rehearsal.github import Hub
from tests.contract.github_setup import started_place

REPOSITORY, TOKEN, API = "GPU_LOL_REPLAY_REPOSITORY", "GPU_LOL_REPLAY_TOKEN", "GPU_LOL_REPLAY_API"


@dataclass
class Far:
    """One repository with an open pull request; ``hub`` is None where it is a real one."""

    forge: GitHubForge
    number: int
    branch: str
    hub: Hub | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_real(self) -> bool:
        """Whether GitHub itself answers."""
        return self.hub is None

    def unique(self, stem: str) -> str:
        """A name that no earlier replay used: nothing of a ledger is ever deleted."""
        return f"{stem}-{uuid.uuid4().hex[:10]}"


def is_real() -> bool:
    """Whether a real repository is named."""
    return bool(os.environ.get(REPOSITORY))


@contextmanager
def far_github(folder: Path) -> Iterator[Far]:
    """Either kind, ready to be asked."""
    if is_real():
        yield from _real()
        return
    with started_place(folder) as place:
        forge = place.forge()
        yield Far(forge, place.number, "main", place.hub, place.notes)


def _real() -> Iterator[Far]:
    notes: list[str] = []
    connection = Connection(os.environ[TOKEN], os.environ[REPOSITORY], os.environ.get(API) or "https://api.github.com")
    hands = Hands(
        lambda: datetime.now(timezone.utc), lambda pause: time.sleep(pause / timedelta(seconds=1)), notes.append
    )
    forge = GitHubForge(connection, hands)
    try:
        far = Far(forge, 0, forge.repository().default_branch, notes=notes)
        far.number = _open_pull_request(far)
        yield far
        forge.client.ask(Ask("PATCH", "pulls/{number}", {"number": far.number}, body={"state": "closed"}))
    finally:
        forge.close()


def _open_pull_request(far: Far) -> int:
    """A branch with one commit of a new file, and a draft pull request from it."""
    client, name = far.forge.client, far.unique("gpu-lol-replay")
    base = client.get("git/ref/{ref}", {"ref": f"heads/{far.branch}"})["object"]["sha"]
    entry = {"path": f"{name}.txt", "mode": "100644", "type": "blob", "content": "replay\n"}
    tree = client.ask(Ask("POST", "git/trees", body={"base_tree": base, "tree": [entry]})).body["sha"]
    body = {"message": "Replay the contract suite", "tree": tree, "parents": [base]}
    commit = client.ask(Ask("POST", "git/commits", body=body)).body["sha"]
    client.ask(Ask("POST", "git/refs", body={"ref": f"refs/heads/{name}", "sha": commit}))
    title = "gpu-lol: replay of the contract suite"
    pull = client.ask(Ask("POST", "pulls", body={"title": title, "head": name, "base": far.branch, "draft": True}))
    return int(pull.body["number"])
