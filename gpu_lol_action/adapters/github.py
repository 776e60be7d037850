"""The one place that speaks to GitHub's API: PyGithub's requester, with our patience, counts and errors.

PyGithub's own defaults sleep a second before each write and repeat a POST up to eleven times; its retry
waits out a `Retry-After` however long. So its throttle and retry are off, and `GitHubClient.ask` decides:
what is safe to repeat is repeated a few times, what may have happened is reported as a lost answer.
"""

from __future__ import annotations

import json
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError

if TYPE_CHECKING:
    from github.Requester import Requester

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
        self.counts: Counter[str] = Counter()
        self.requests_left: int | None = None
        self.known: dict[tuple[str, str], Reply] = {}
        self.sleep = sleep
        self._requester: Requester | None = None

    def ask(self, ask: Ask) -> Reply:
        """Return GitHub's answer: 2xx, or a status that the caller allows.

        Raises TransientError after bounded retries, OperatorError for credentials and permissions, UserError
        where GitHub has no such thing, LostAnswer where a write may have happened.
        """
        known = self.known.get(self._name(ask)) if ask.method == "GET" else None
        if known is not None:
            return _judged(ask, known)
        may_repeat = ask.is_repeatable or ask.method == "GET"
        for attempt in range(self.connection.attempts):
            is_last = attempt + 1 == self.connection.attempts
            reply = self._send(ask)
            if reply is None or reply.status >= 500:
                if is_last or not may_repeat:
                    raise _unreachable(ask, reply)
                self.sleep(timedelta(seconds=2**attempt))
                continue
            wait = _rate_limit_wait(reply)
            if wait is None:
                return _judged(ask, reply)
            if is_last or wait > self.connection.longest_wait:
                raise _rate_limited(reply)
            # A limit is checked before anything is done: repeating is safe for writes too.
            self.sleep(wait)
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

    def graphql(self, query: str) -> Any:
        """Return `data` of a GraphQL query (reads only); OperatorError where GitHub refuses it."""
        url = self._graphql_url()
        reply = self.ask(Ask("POST", url, {"": "graphql"}, body={"query": query}, is_repeatable=True))
        if not isinstance(reply.body, dict) or reply.body.get("errors") or "data" not in reply.body:
            raise OperatorError("github_refused", "GitHub refused a GraphQL query")
        return reply.body["data"]

    def know(self, ask: Ask, reply: Reply) -> None:
        """Answer this question with that from now on: for runs that looked once and write nothing they look at."""
        self.known[self._name(ask)] = reply

    def is_known(self, ask: Ask) -> bool:
        """Whether this question costs no request."""
        return self._name(ask) in self.known

    def count(self, operation: str) -> None:
        """Count a request that was made around this client (archives, the first reaction)."""
        self.counts[operation] += 1

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

        requester = self._connected()
        self.count(f"{ask.method} {ask.values.get('', ask.path)}")
        try:
            headers, body = requester.requestJsonAndCheck(
                ask.method, self._url(ask), parameters=dict(ask.query), input=ask.body
            )
            status = 200
        except github.GithubException as error:
            status, headers, body = error.status, error.headers or {}, error.data
        except (requests.RequestException, OSError):
            return None
        left = headers.get("x-ratelimit-remaining", "")
        if left.isdigit():
            self.requests_left = int(left)
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

    def _name(self, ask: Ask) -> tuple[str, str]:
        return self._url(ask), urllib.parse.urlencode(sorted(ask.query.items()))

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


def _rate_limit_wait(reply: Reply) -> timedelta | None:
    """How long GitHub wants us to wait; None where it did not limit us."""
    if reply.status not in (403, 429):
        return None
    asked = reply.headers.get("retry-after", "")
    if asked.isdigit():
        return timedelta(seconds=int(asked))
    is_limit = "rate limit" in reply.message.lower() or reply.status == 429
    if is_limit or reply.headers.get("x-ratelimit-remaining") == "0":
        # Without `Retry-After` GitHub asks for a minute at least, or until the hour is over.
        return timedelta(minutes=60 if reply.headers.get("x-ratelimit-remaining") == "0" else 1)
    return None


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
