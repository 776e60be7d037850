"""What a route is given and gives back: calls, answers, refusals, pages."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_lol_action.rehearsal.github_state import Account, Repository, Token, World

_DOCS = "https://docs.github.com/rest"


@dataclass(frozen=True, slots=True)
class Call:
    """One checked request: who asks, about which repository, with what."""

    world: World
    token: Token
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    url: str
    home: Repository | None = None

    @property
    def actor(self) -> Account:
        """Whoever the token speaks for."""
        return self.token.account

    @property
    def repository(self) -> Repository:
        """The repository in the path; the server has answered 404 before where there is none."""
        if self.home is None:
            raise LookupError(f"{self.url} names no repository")
        return self.home

    def number(self, name: str) -> int:
        """A path parameter that is a number."""
        return int(self.path[name])


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, JSON body (None: no body) and extra headers; status 0 and `delivery` are a queued fault's doing.

    `reset` breaks the connection, `silence` lets the client wait, `cut` ends in the middle of the body.
    """

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery: Literal["whole", "reset", "silence", "cut"] = "whole"


@dataclass(frozen=True, slots=True)
class Route:
    """A handler and the workflow permissions of which any one lets a token in (`issues`, `contents`, ...)."""

    handler: Callable[[Call], Answer]
    needs: tuple[str, ...] = ("metadata",)


class Refusal(Exception):
    """The stand-in answers as GitHub does when it says no."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(str(answer.body))
        self.answer = answer


def refuse(status: int, message: str, errors: Sequence[Any] | None = None) -> Refusal:
    """GitHub's error body: `message`, `documentation_url`, `status`, and `errors` for a validation error."""
    body: dict[str, Any] = {"message": message}
    if errors is not None:
        body["errors"] = list(errors)
    body.update(documentation_url=_DOCS, status=str(status))
    return Refusal(Answer(status, body))


def not_found() -> Refusal:
    """GitHub's plain 404."""
    return refuse(404, "Not Found")


def page(call: Call, items: Sequence[Any]) -> tuple[Sequence[Any], dict[str, str]]:
    """The asked-for page and its `Link` header; GitHub links by repository id, not by name."""
    size = min(max(int(call.query.get("per_page", 30)), 1), call.world.page_limit)
    current = max(int(call.query.get("page", 1)), 1)
    last = max(-(-len(items) // size), 1)
    wanted = {"prev": current - 1, "next": current + 1, "last": last, "first": 1}
    shown = [
        name
        for name in wanted
        if (name in ("prev", "first") and current > 1) or (name in ("next", "last") and current < last)
    ]
    links = [f'<{_page_url(call, wanted[name])}>; rel="{name}"' for name in shown]
    headers = {"Link": ", ".join(links)} if links else {}
    return items[(current - 1) * size : current * size], headers


def paged(call: Call, items: Sequence[Any]) -> Answer:
    """A bare list, as most of GitHub's lists are."""
    shown, headers = page(call, items)
    return Answer(200, list(shown), headers)


def counted(call: Call, name: str, items: Sequence[Any]) -> Answer:
    """A list wrapped with `total_count`, as checks and runs are."""
    shown, headers = page(call, items)
    return Answer(200, {"total_count": len(items), name: list(shown)}, headers)


def _page_url(call: Call, number: int) -> str:
    path = call.url
    if call.home is not None:
        path = path.replace(f"/repos/{call.home.full_name}", f"/repositories/{call.home.repository_id}", 1)
    query = urllib.parse.urlencode({**call.query, "page": str(number)})
    return f"{call.world.api_url}{path}?{query}"
