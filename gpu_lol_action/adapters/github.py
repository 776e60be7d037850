"""The one place that speaks to GitHub's API: PyGithub's requester, with our patience, counts and errors.

PyGithub's own defaults sleep a second before each write and repeat a POST up to eleven times; its retry
waits out a `Retry-After` however long. So its throttle and retry are off, and `GitHubClient.ask` decides:
what is safe to repeat is repeated a few times, what may have happened is reported as a lost answer.
"""

from __future__ import annotations

import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gpu_lol_action.adapters.github_answers import (
    Ask,
    LostAnswer,
    Reply,
    graphql_refused,
    judged,
    rate_limit_wait,
    rate_limited,
    unreachable,
)
from gpu_lol_action.adapters.github_budget import RequestBudget
from gpu_lol_action.errors import TransientError, UserError

if TYPE_CHECKING:
    from github.Requester import Requester

__all__ = ["Ask", "Connection", "GitHubClient", "LostAnswer", "Reply", "expand"]

MAX_PAGES = 100
"""Of 100 entries each: past that a list is an attack or a mistake, and reading on would eat the hour's requests."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where and as whom. `api_url` is `GITHUB_API_URL`; on GitHub Enterprise Server it ends in `/api/v3`."""

    token: str = field(repr=False)
    full_name: str
    api_url: str = "https://api.github.com"
    timeout: timedelta = timedelta(seconds=15)
    attempts: int = 3
    longest_wait: timedelta = timedelta(seconds=60)


class GitHubClient:
    """A connection to one repository's GitHub that counts what it asks."""

    def __init__(self, connection: Connection, sleep: Callable[[timedelta], None]) -> None:
        """Connect to nothing yet: PyGithub is imported with the first request."""
        self.connection = connection
        self.budget = RequestBudget()
        self.sleep = sleep
        # A launch is watched by a thread of its own, and PyGithub's connection is one.
        self._lock = threading.Lock()
        self._requester: Requester | None = None

    def ask(self, ask: Ask) -> Reply:
        """Return GitHub's answer: 2xx, or a status that the caller allows.

        Raises TransientError after bounded retries, OperatorError for credentials and permissions, UserError
        where GitHub has no such thing, LostAnswer where a write may have happened.
        """
        may_repeat = ask.is_repeatable or ask.method == "GET"
        for attempt in range(self.connection.attempts):
            is_last = attempt + 1 == self.connection.attempts
            reply = self._send(ask)
            if reply is None or reply.status >= 500:
                if is_last or not may_repeat:
                    raise unreachable(ask, reply)
                self.sleep(timedelta(seconds=2**attempt))
                continue
            wait = rate_limit_wait(reply)
            if wait is None:
                return judged(ask, reply)
            if is_last or wait > self.connection.longest_wait:
                raise rate_limited(reply)
            # A limit is checked before anything is done: repeating is safe for writes too.
            self.sleep(wait)
            # Whatever was left then, it is more now.
            self.budget.left = None
        raise unreachable(ask, None)

    def get(self, path: str, values: Mapping[str, str | int] | None = None, **query: str | int) -> Any:
        """Return the body of a GET that has to succeed."""
        return self.ask(Ask("GET", path, values or {}, query)).body

    def pages(self, path: str, values: Mapping[str, str | int] | None = None, **query: str | int) -> Iterator[Any]:
        """Yield the entries of a list over all its pages."""
        reply = self.ask(Ask("GET", path, values or {}, {**query, "per_page": 100}))
        for _ in range(MAX_PAGES):
            yield from reply.body
            following = _next_page(reply.headers.get("link", ""))
            if following is None:
                return
            # GitHub's links name the repository by id, so they are followed as they are.
            reply = self.ask(Ask("GET", following, {"": path}))
        raise TransientError(
            "github_list_too_long",
            f"GitHub's list {path} has more than {MAX_PAGES * 100} entries",
            fix="Close or archive what is not needed any more.",
        )

    def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Return `data` of a query, or of a change that may be made twice. Raises as `ask` does, and for refusals in a 200."""
        body = {"query": query, **({"variables": dict(variables)} if variables else {})}
        reply = self.ask(Ask("POST", self._graphql_url(), {"": "graphql"}, body=body, is_repeatable=True))
        errors = reply.body.get("errors") if isinstance(reply.body, dict) else None
        if errors or not isinstance(reply.body, dict) or not isinstance(reply.body.get("data"), dict):
            raise graphql_refused(errors)
        return reply.body["data"]

    def mutate(self, mutation: str, variables: Mapping[str, Any]) -> tuple[Mapping[str, Any], frozenset[str]]:
        """Return what several changes in one question gave, by alias, and the aliases that GraphQL refused.

        Raises as `ask` does: LostAnswer and OperatorError where any of them may have happened. Asked once.
        """
        body = {"query": mutation, "variables": dict(variables)}
        reply = self.ask(Ask("POST", self._graphql_url(), {"": "graphql"}, body=body))
        answer = reply.body if isinstance(reply.body, dict) else {}
        data, errors = answer.get("data"), answer.get("errors") or ()
        if not isinstance(data, dict):
            raise graphql_refused(errors)
        refused = (each.get("path") for each in errors if isinstance(each, dict))
        return data, frozenset(str(path[0]) for path in refused if path)

    @property
    def counts(self) -> Counter[str]:
        """Requests by operation."""
        return self.budget.counts

    def count(self, operation: str) -> None:
        """Count a request that is made around this client (archives, the first reaction), where it may be made."""
        self.budget.spend(operation)

    def close(self) -> None:
        """End the connection; the next request would open one anew."""
        if self._requester is not None:
            self._requester.close()
            self._requester = None

    # --- underneath ---------------------------------------------------------------------------------------
    def _send(self, ask: Ask) -> Reply | None:
        """One round trip; None where no answer came."""
        import github
        import requests

        self.budget.spend(f"{ask.method} {ask.values.get('', ask.path)}")
        with self._lock:
            requester = self._connected()
            try:
                headers, body = requester.requestJsonAndCheck(
                    ask.method, self._url(ask), parameters=dict(ask.query), input=ask.body
                )
                status = 200
            except github.GithubException as error:
                status, headers, body = error.status, error.headers or {}, error.data
            except (requests.RequestException, OSError):
                return None
        self.budget.learn(headers)
        return Reply(status, body, headers)

    def _connected(self) -> Requester:
        if self._requester is None:
            import github

            self._requester = github.Github(
                auth=github.Auth.Token(self.connection.token),
                base_url=self.connection.api_url.rstrip("/"),
                timeout=max(1, round(self.connection.timeout.total_seconds())),
                user_agent="gpu-lol-action",
                per_page=100,
                retry=None,
                seconds_between_requests=0,
                seconds_between_writes=0,
                lazy=True,
            ).requester
        return self._requester

    def _url(self, ask: Ask) -> str:
        if "" in ask.values:
            return ask.path
        return expand(ask.path, ask.values, self.connection.full_name)

    def _graphql_url(self) -> str:
        return self.connection.api_url.rstrip("/").removesuffix("/v3") + "/graphql"


def expand(template: str, values: Mapping[str, str | int], full_name: str) -> str:
    """Return the path of a request: every value is escaped, and none can climb out of its place.

    `path` and `ref` may hold slashes; everything else is one segment.
    """
    filled = {}
    for name, value in values.items():
        text = str(value)
        if any(part in ("", ".", "..") for part in text.split("/")):
            raise UserError("github_name_invalid", f"{text[:80]!r} cannot be looked up on GitHub")
        filled[name] = urllib.parse.quote(text, safe="/" if name in ("path", "ref") else "")
    tail = template.format(**filled)
    return tail if template.startswith("/") else f"/repos/{full_name}/{tail}".rstrip("/")


def _next_page(link: str) -> str | None:
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return address.strip().removeprefix("<").removesuffix(">")
    return None
