"""Comments on GitHub: as values, and posted exactly once though an answer may be lost after the write happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient, LostAnswer
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.errors import GpuLolError

_LOOKS = (timedelta(seconds=2), timedelta(seconds=5))
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Hands:
    """What is needed besides GitHub: time, and where to say what was passed over."""

    now: Callable[[], datetime]
    sleep: Callable[[timedelta], None]
    note: Callable[[str], None]


@dataclass(slots=True)
class OnePost:
    """One comment that is to stand once. ``me`` tells under which login this token writes; asked only in doubt."""

    client: GitHubClient
    hands: Hands
    me: Callable[[], str]
    number: int
    body: str
    _began: datetime = field(init=False)

    def send(self, *, is_doubtful: bool = False) -> Posted:
        """Post it. Where the answer is lost, look for the comment, twice, before posting again.

        ``is_doubtful``: it was just tried another way, and may stand.
        """
        self._began = self.hands.now()
        twin = self._look() if is_doubtful else None
        if twin is not None:
            return twin
        ask = Ask("POST", "issues/{number}/comments", {"number": self.number}, body={"body": self.body})
        for tries_left in reversed(range(_TRIES)):
            try:
                answer = posted(self.client.ask(ask).body)
            except LostAnswer:
                twin = self._look()
                if twin is not None:
                    return twin
                if tries_left == 0:
                    raise
                continue
            # An earlier try that did not show then may show now: one of the two has to go.
            is_first = tries_left == _TRIES - 1 and not is_doubtful
            return answer if is_first else self._only_one(answer)
        raise AssertionError("unreachable: the last try returns or raises")

    def _look(self) -> Posted | None:
        """Return the comment where it stands though nobody said so."""
        for pause in _LOOKS:
            # What was written shows in lists a moment later.
            self.hands.sleep(pause)
            twins = self._twins()
            if twins:
                return twins[0]
        return None

    def _only_one(self, newest: Posted) -> Posted:
        """Delete all but the first of our comments with this very text; return the one that stays."""
        try:
            first, *others = self._twins() or [newest]
            for other in others:
                ask = Ask(
                    "DELETE", "issues/comments/{comment_id}", {"comment_id": other.comment_id}, is_repeatable=True
                )
                self.client.ask(replace(ask, allow=frozenset({404})))
        except GpuLolError as error:
            self.hands.note(f"whether a comment stands twice could not be seen: {error}")
            return newest
        return first

    def _twins(self) -> list[Posted]:
        """Our comments with this very text that were not there before we began, oldest first."""
        floor = self._began - timedelta(minutes=2)  # GitHub's clock and ours
        since = floor.strftime("%Y-%m-%dT%H:%M:%SZ")
        found = []
        for entry in self.client.pages("issues/{number}/comments", {"number": self.number}, since=since):
            created = datetime.fromisoformat(str(entry["created_at"]).replace("Z", "+00:00"))
            is_same = _same_text(str(entry.get("body") or ""), self.body)
            if is_same and created >= floor and author_of(entry) == self.me():
                found.append(posted(entry))
        return sorted(found, key=lambda each: each.comment_id)


def posted(raw: Any) -> Posted:
    """Return a comment of an answer as a value."""
    return Posted(raw["id"], raw["body"] or "", author_of(raw), raw["html_url"], str(raw.get("node_id", "")))


def author_of(raw: Any) -> str:
    """Return the login of who wrote it; empty for an account that is gone."""
    user = raw.get("user")
    return str(user.get("login", "")) if isinstance(user, dict) else ""


def _same_text(one: str, other: str) -> bool:
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
