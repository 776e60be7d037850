"""Issues that we wrote: found by marker and author, opened exactly once though an answer may be lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient, LostAnswer
from gpu_lol_action.adapters.github_comments import Hands, OnePost, author_of
from gpu_lol_action.domain.smoke_issue import IssueDraft, StandingIssue
from gpu_lol_action.errors import UserError

MOST_LOOKED_AT = 300
"""Issues and pull requests that changed last: ours is among them, or was forgotten long ago."""
_LOOKS = (timedelta(seconds=2), timedelta(seconds=5))
_TRIES = 3
_GONE = frozenset({301, 404, 410})


class GitHubIssues:
    """The port ``Issues``. Needs `issues: write`. ``me`` tells under which login this token writes."""

    def __init__(self, client: GitHubClient, hands: Hands, me: Callable[[], str]) -> None:
        """Ask nothing yet."""
        self._client = client
        self._hands = hands
        self._me = me

    def read(self, number: int, marker_prefix: str) -> StandingIssue | None:
        """Return an issue; None where it is gone, moved, or not ours: numbers come from a record, text from GitHub."""
        reply = self._client.ask(Ask("GET", "issues/{number}", {"number": number}, allow=_GONE))
        if reply.status in _GONE or not self._is_ours(reply.body, marker_prefix):
            return None
        return _standing(reply.body)

    def find(self, marker_prefix: str) -> StandingIssue | None:
        """Return our newest issue with this marker among those that changed last."""
        found = self._ours(marker_prefix, since=None)
        return max(found, key=lambda issue: issue.number, default=None)

    def open(self, title: str, body: str) -> StandingIssue:
        """Open an issue. Where the answer is lost, look for it, twice, before asking again; of two the later is closed."""
        began = self._hands.now()
        marker = body.split("\n", 1)[0]
        ask = Ask("POST", "issues", body={"title": title, "body": body}, allow=frozenset({410}))
        for tries_left in reversed(range(_TRIES)):
            try:
                reply = self._client.ask(ask)
            except LostAnswer:
                for pause in _LOOKS:
                    # What was written shows in lists a moment later.
                    self._hands.sleep(pause)
                    twins = self._ours(marker, since=began)
                    if twins:
                        return self._only_one(twins)
                if tries_left == 0:
                    raise
                continue
            if reply.status == 410:
                raise UserError("github_not_found", "issues are switched off in this repository")
            made = _standing(reply.body)
            return made if tries_left == _TRIES - 1 else self._only_one([made, *self._ours(marker, since=began)])
        raise AssertionError("unreachable: the last try returns or raises")

    def edit(self, number: int, draft: IssueDraft) -> None:
        """Write an issue anew: title, text, and whether it stands open."""
        state = {"state": "open"} if draft.is_open else {"state": "closed", "state_reason": "completed"}
        self._patch(number, {"title": draft.title, "body": draft.body, **state})

    def comment(self, number: int, body: str) -> None:
        """Add a comment once."""
        OnePost(self._client, self._hands, self._me, number, body).send()

    def _only_one(self, found: list[StandingIssue]) -> StandingIssue:
        """Close all but the first: issues cannot be deleted."""
        first, *others = sorted({issue.number: issue for issue in found}.values(), key=lambda issue: issue.number)
        for other in others:
            if other.is_open:
                self._patch(other.number, {"state": "closed", "state_reason": "not_planned"})
        return first

    def _ours(self, marker_prefix: str, *, since: datetime | None) -> list[StandingIssue]:
        query: dict[str, str | int] = {"state": "all", "sort": "updated", "direction": "desc"}
        if since is not None:
            floor = since - timedelta(minutes=2)  # GitHub's clock and ours
            query["since"] = floor.strftime("%Y-%m-%dT%H:%M:%SZ")
        listed = islice(self._client.pages("issues", None, **query), MOST_LOOKED_AT)
        found = [_standing(raw) for raw in listed if self._is_ours(raw, marker_prefix)]
        return found if since is None else [issue for issue in found if issue.is_open]

    def _is_ours(self, raw: Any, marker_prefix: str) -> bool:
        """Anybody can write the marker; only we are us."""
        is_marked = "pull_request" not in raw and str(raw.get("body") or "").startswith(marker_prefix)
        return is_marked and author_of(raw) == self._me()

    def _patch(self, number: int, body: dict[str, str]) -> None:
        self._client.ask(Ask("PATCH", "issues/{number}", {"number": number}, body=body, is_repeatable=True))


def _standing(raw: Any) -> StandingIssue:
    closed_at = raw.get("closed_at")
    return StandingIssue(
        number=int(raw["number"]),
        is_open=raw["state"] == "open",
        body=str(raw.get("body") or ""),
        closed_at=datetime.fromisoformat(closed_at.replace("Z", "+00:00")) if closed_at else None,
        is_unwanted=raw.get("state_reason") in ("not_planned", "duplicate"),
        title=str(raw.get("title") or ""),
        url=str(raw.get("html_url") or ""),
    )
