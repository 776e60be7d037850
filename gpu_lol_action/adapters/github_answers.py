"""What is asked of GitHub, what it answers, and what an answer means: a limit, a refusal, an outage, or a lost write."""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError

# "rate limit": primary and secondary; "abuse": what servers of the last years say instead of secondary.
_LIMIT_WORDS = ("rate limit", "abuse detection")


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


def rate_limited(reply: Reply) -> GpuLolError:
    """Return the error for a limit that is not waited for."""
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


def graphql_refused(errors: Any) -> GpuLolError:
    """Return the error behind the ``errors`` of a GraphQL answer."""
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


def unreachable(ask: Ask, reply: Reply | None) -> GpuLolError:
    """Return the error where no answer came, or a gateway's: of a write nobody knows whether it happened."""
    answer = f"it answered {reply.status}" if reply else "it did not answer"
    what = f"GitHub could not be asked: {answer}"
    kind = TransientError if ask.method == "GET" or ask.is_repeatable else LostAnswer
    return kind("github_unreachable", what, fix="Try again in a few minutes.")


def judged(ask: Ask, reply: Reply) -> Reply:
    """Return an answer that its caller takes; raise what any other one means."""
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
