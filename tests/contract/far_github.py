"""GitHub as the replayed suite sees it: the stand-in, or a real repository that a maintainer names.

    scripts/replay-contract OWNER/REPOSITORY

The real one is named by three variables that the script sets; without them the suite runs against the stand-in.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters.github import Ask, Connection
from gpu_lol_action.adapters.github_first_look import Focus
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.rehearsal.github import Hub
from tests.contract.github_setup import started_place

REPOSITORY, TOKEN, API = "GPU_LOL_REPLAY_REPOSITORY", "GPU_LOL_REPLAY_TOKEN", "GPU_LOL_REPLAY_API"
# Everything that a replay makes has one of these in its name, and nothing else has.
STEM, RECORDS = "gpu-lol-replay", "gl-replay"
TITLE = "gpu-lol: replay of the contract suite"


@dataclass
class Far:
    """One repository with an open pull request; ``hub`` is None where it is a real one."""

    forge: GitHubForge
    number: int
    branch: str
    hub: Hub | None = None
    notes: list[str] = field(default_factory=list)
    focused: Callable[[Focus], GitHubForge] | None = None
    head_branch: str = ""

    @property
    def is_real(self) -> bool:
        """Whether GitHub itself answers."""
        return self.hub is None

    def unique(self, stem: str) -> str:
        """A name that no earlier replay used: nothing of a ledger is ever deleted while it is in use."""
        return f"{stem}-{uuid.uuid4().hex[:10]}"

    def seen_by(self, focus: Focus) -> GitHubForge:
        """A connection of its own, as a run has that is about something."""
        if self.focused is None:
            raise LookupError("this one has no other connections")
        return self.focused(focus)

    def focus(self, **more: object) -> Focus:
        """What a run about this pull request is about."""
        return Focus(self.number, POLICY_PATH, f"refs/heads/{self.branch}", **more)  # type: ignore[arg-type]  # named


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

        def focused(focus: Focus) -> GitHubForge:
            return _connected(place.hub.bot_token, place.hub.setting.full_name, place.hub.api_url, focus)

        head = place.forge().pull_request(place.number).head_ref
        yield Far(place.forge(), place.number, "main", place.hub, place.notes, focused, head)


@contextmanager
def where_permitted(far: Far, permission: str) -> Iterator[None]:
    """What some tokens may not do (a person's may make no check runs) is left out against a real repository, and said."""
    try:
        yield
    except OperatorError as error:
        if not far.is_real or error.reason_code != "github_permission_missing":
            raise
        pytest.skip(f"this token has no `{permission}`")


def _connected(token: str, repository: str, api_url: str, focus: Focus | None = None) -> GitHubForge:
    hands = Hands(lambda: datetime.now(timezone.utc), lambda pause: time.sleep(pause / timedelta(seconds=1)), print)
    return GitHubForge(Connection(token, repository, api_url), hands, focus=focus)


def _real() -> Iterator[Far]:
    where = os.environ[TOKEN], os.environ[REPOSITORY], os.environ.get(API) or "https://api.github.com"
    forge = _connected(*where)
    far = Far(forge, 0, forge.repository().default_branch, focused=lambda focus: _connected(*where, focus))
    try:
        _open_pull_request(far)
        yield far
    finally:
        _clean_up(far)
        forge.close()


def _open_pull_request(far: Far) -> None:
    """A branch with one commit of a new file, and a draft pull request from it."""
    client, name = far.forge.client, far.unique(STEM)
    base = client.get("git/ref/{ref}", {"ref": f"heads/{far.branch}"})["object"]["sha"]
    entry = {"path": f"{name}.txt", "mode": "100644", "type": "blob", "content": "replay\n"}
    root = client.get("git/commits/{sha}", {"sha": base})["tree"]["sha"]
    tree = client.ask(Ask("POST", "git/trees", body={"base_tree": root, "tree": [entry]})).body["sha"]
    body = {"message": "Replay the contract suite", "tree": tree, "parents": [base]}
    commit = client.ask(Ask("POST", "git/commits", body=body)).body["sha"]
    client.ask(Ask("POST", "git/refs", body={"ref": f"refs/heads/{name}", "sha": commit}))
    far.head_branch = name
    pull = client.ask(Ask("POST", "pulls", body={"title": TITLE, "head": name, "base": far.branch, "draft": True}))
    far.number = int(pull.body["number"])


def _clean_up(far: Far) -> None:
    """Close the pull request, then delete its branch and every ref of this or an earlier replay that was cut short."""
    client, gone = far.forge.client, frozenset({404, 422})
    if far.number:
        closed = Ask("PATCH", "pulls/{number}", {"number": far.number}, body={"state": "closed"}, allow=gone)
        client.ask(closed)
    for start in (f"heads/{STEM}-", *(f"{place}/{each}-" for place in _PLACES for each in (RECORDS,))):
        for entry in client.get("git/matching-refs/{ref}", {"ref": start}):
            ref = str(entry["ref"]).removeprefix("refs/")
            client.ask(Ask("DELETE", "git/refs/{ref}", {"ref": ref}, is_repeatable=True, allow=gone))
    if far.number:
        ref = {"ref": f"gpu-lol/proposals/{far.number}"}
        client.ask(Ask("DELETE", "git/refs/{ref}", ref, is_repeatable=True, allow=gone))


_PLACES = tuple(f"{where}/{folder}" for where in ("gpu-lol", "heads/gpu-lol") for folder in ("environments", "rescues"))
