"""The one place that speaks to GitHub's API: PyGithub's requester, with our patience, counts and errors.

PyGithub's own defaults sleep a second before each write and repeat a POST up to eleven times; its retry
waits out a `Retry-After` however long. So its throttle and retry are off, and `GitHubClient.ask` decides:
what is safe to repeat is repeated a few times, what may have happened is reported as a lost answer.
"""

from __future__ import annotations

import email.utils
import json
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from gpu_lol_action.adapters.github_budget import RequestBudget
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError

if TYPE_CHECKING:
    from github.Requester import Requester

# "rate limit": primary and secondary; "abuse": what servers of the last years say instead of secondary.
_LIMIT_WORDS = ("rate limit", "abuse detection")
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


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `path` is a template below the repository, or from the root where it starts with a slash.

    `is_repeatable` says that asking twice does no harm (every GET; an edit; content-addressed objects).
    `allow` names error statuses that are an answer to the caller and not an error.
    """

    method: str
    path: str
    values: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Any = None
    is_repeatable: bool = False
    allow: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reply:
    """What GitHub answered; header names are in lower case."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def message(self) -> str:
        """GitHub's own words about an error, cut to a line."""
        text = self.body.get("message", "") if isinstance(self.body, dict) else ""
        return " ".join(str(text).split())[:200]


class LostAnswer(TransientError):
    """A write got no answer, or a gateway's: it may have happened. Whoever asked looks before asking again."""


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
                    raise _unreachable(ask, reply)
                self.sleep(timedelta(seconds=2**attempt))
                continue
            wait = rate_limit_wait(reply)
            if wait is None:
                return _judged(ask, reply)
            if is_last or wait > self.connection.longest_wait:
                raise _rate_limited(reply)
            # A limit is checked before anything is done: repeating is safe for writes too.
            self.sleep(wait)
            # Whatever was left then, it is more now.
            self.budget.left = None
        raise _unreachable(ask, None)

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
        """Return `data` of a GraphQL query (reads only). Raises as `ask` does; GraphQL refuses with status 200."""
        body = {"query": query, **({"variables": dict(variables)} if variables else {})}
        reply = self.ask(Ask("POST", self._graphql_url(), {"": "graphql"}, body=body, is_repeatable=True))
        errors = reply.body.get("errors") if isinstance(reply.body, dict) else None
        if errors or not isinstance(reply.body, dict) or not isinstance(reply.body.get("data"), dict):
            raise _graphql_refused(errors)
        return reply.body["data"]

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


def rate_limit_wait(reply: Reply) -> timedelta | None:
    """How long GitHub wants us to wait; None where it did not limit us."""
    if reply.status not in (403, 429):
        return None
    asked = reply.headers.get("retry-after", "")
    if asked.isdigit():
        return timedelta(seconds=int(asked))
    if reply.status != 429 and not any(words in reply.message.lower() for words in _LIMIT_WORDS):
        return None
    if reply.headers.get("x-ratelimit-remaining") == "0":
        return _until_reset(reply.headers)
    # Without `Retry-After` GitHub asks for a minute at least.
    return timedelta(minutes=1)


def _until_reset(headers: Mapping[str, str]) -> timedelta:
    """Time until the hour's requests are there again, by GitHub's own clock; an hour where it does not say."""
    reset, date = headers.get("x-ratelimit-reset", ""), headers.get("date", "")
    try:
        left = datetime.fromtimestamp(int(reset), timezone.utc) - email.utils.parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return timedelta(hours=1)
    return max(left, timedelta(0)) + timedelta(seconds=1)


def _rate_limited(reply: Reply) -> GpuLolError:
    reset = reply.headers.get("x-ratelimit-reset", "")
    until = ""
    if reset.isdigit() and reply.headers.get("x-ratelimit-remaining") == "0":
        moment = datetime.fromtimestamp(int(reset), timezone.utc)
        until = f" until {moment:%H:%M} UTC"
    return TransientError(
        "github_rate_limited",
        f"GitHub takes no more requests from this token{until}",
        why="GitHub allows a workflow's token 1,000 requests an hour per repository.",
        fix="Try again later.",
    )


def _graphql_refused(errors: Any) -> GpuLolError:
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    kind, message = str(first.get("type", "")), " ".join(str(first.get("message", "")).split())[:200]
    if kind == "RATE_LIMITED":
        return TransientError(
            "github_rate_limited", "GitHub takes no more questions from this token", fix="Try again later."
        )
    if kind == "FORBIDDEN":
        return OperatorError(
            "github_permission_missing",
            f"the workflow's token may not do this: {message}",
            fix="A maintainer must add the missing line under `permissions:` in the workflow.",
        )
    return OperatorError("github_refused", "GitHub refused a GraphQL query", why=message)


def _unreachable(ask: Ask, reply: Reply | None) -> GpuLolError:
    answer = f"it answered {reply.status}" if reply else "it did not answer"
    what = f"GitHub could not be asked: {answer}"
    kind = TransientError if ask.method == "GET" or ask.is_repeatable else LostAnswer
    return kind("github_unreachable", what, fix="Try again in a few minutes.")


def _judged(ask: Ask, reply: Reply) -> Reply:
    if reply.status < 400 or reply.status in ask.allow:
        return reply
    if reply.status == 401:
        raise OperatorError(
            "github_token_refused",
            "GitHub refused the token",
            fix="A maintainer must check the input `github-token` of the workflow.",
        )
    if reply.status == 403:
        wanted = reply.headers.get("x-accepted-github-permissions", "")
        raise OperatorError(
            "github_permission_missing",
            f"the workflow's token may not do this: {reply.message}",
            why=f"{ask.method} {ask.values.get('', ask.path)}" + (f" needs {wanted}" if wanted else ""),
            fix="A maintainer must add the missing line under `permissions:` in the workflow.",
        )
    if reply.status in (404, 410):
        raise UserError("github_not_found", f"GitHub has no {_subject(ask)}")
    raise OperatorError("github_refused", f"GitHub refused {_subject(ask)}: {reply.message}", why=_errors(reply))


def _subject(ask: Ask) -> str:
    path = str(ask.values.get("", ask.path))
    return path.format(**{name: str(value)[:80] for name, value in ask.values.items() if name})


def _errors(reply: Reply) -> str:
    found = reply.body.get("errors") if isinstance(reply.body, dict) else None
    return json.dumps(found)[:200] if found else ""
