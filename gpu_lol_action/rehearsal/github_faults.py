"""What goes wrong at GitHub, by name: the wrong answers that a story can order for its next requests.

`before`: nothing happened and the answer is the fault. `after`: the change happened and only its answer was lost,
which is what a gateway's 502, a broken connection or a time-out often mean.
"""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, Literal

from gpu_lol_action.rehearsal.github_answers import Answer
from gpu_lol_action.rehearsal.github_openapi import Operation

Mode = Literal["before", "after", "stale"]
Delivery = Literal["whole", "reset", "silence", "cut"]

_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_PRIMARY = "API rate limit exceeded for installation ID 51387203."
_FORBIDDEN = "Resource not accessible by integration"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One way to go wrong. `status` 0 gives no answer; `delivery` says how an answer comes, or does not.

    `graphql_type`: GraphQL reports most refusals with status 200 and an error of a type.
    """

    mode: Mode = "before"
    status: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delivery: Delivery = "whole"
    graphql_type: str = ""


KINDS: Mapping[str, FaultKind] = {
    "server_error": FaultKind(status=502, message="Server Error"),
    "lost_502": FaultKind("after", 502, "Server Error"),
    "reset": FaultKind(delivery="reset"),
    "lost_reset": FaultKind("after", delivery="reset"),
    "timeout": FaultKind(delivery="silence"),
    "lost_timeout": FaultKind("after", delivery="silence"),
    "truncated": FaultKind("after", 200, delivery="cut"),
    "secondary_retry_after": FaultKind(status=403, message=_SECONDARY, headers={"Retry-After": "30"}),
    "secondary_bare": FaultKind(status=403, message=_SECONDARY),
    "too_many_requests": FaultKind(status=429, message=_SECONDARY, headers={"Retry-After": "30"}),
    "primary_exhausted": FaultKind(status=403, message=_PRIMARY, graphql_type="RATE_LIMITED"),
    "permission": FaultKind(
        status=403,
        message=_FORBIDDEN,
        headers={"X-Accepted-GitHub-Permissions": "contents=write"},
        graphql_type="FORBIDDEN",
    ),
    "not_found": FaultKind(status=404, message="Not Found", graphql_type="NOT_FOUND"),
    "conflict": FaultKind(status=409, message="Conflict", graphql_type="CONFLICT"),
    "unprocessable": FaultKind(status=422, message="Validation Failed", graphql_type="UNPROCESSABLE"),
    "stale_read": FaultKind("stale"),
}


def kind_of(status: int, mode: Mode, headers: Mapping[str, str] | None) -> FaultKind:
    """Return a fault by its status alone, in the words that GitHub has for it where it has any."""
    words = {502: "Server Error", 503: "Service unavailable", 500: "Server Error"}
    return FaultKind(mode, status, words.get(status, "Queued fault"), headers or {})


@dataclass(slots=True)
class Fault:
    """An answer that a story wants instead of the right one, for one request; `skip` lets that many matches pass first.

    `body` replaces GitHub's error body.
    """

    pattern: str
    kind: FaultKind
    body: Any = None
    skip: int = 0

    @property
    def mode(self) -> Mode:
        """When it strikes; see the module."""
        return self.kind.mode

    def hits(self, operation: Operation) -> bool:
        """Whether `POST comments`, `PATCH git/refs/{ref}`, `issues/create-comment` or `*` means this operation."""
        if self.pattern in ("*", operation.operation_id, operation.key):
            return True
        method, _, tail = self.pattern.partition(" ")
        ends = operation.template == tail or operation.template.endswith("/" + tail.lstrip("/"))
        return method in ("*", operation.method) and ends

    def answer(self, right: Answer | None, operation: Operation, now: datetime) -> Answer:
        """What is sent instead of the right answer; None stands for a request that was never carried out."""
        kind = self.kind
        if kind.delivery == "cut" and right is not None:
            return replace(right, delivery="cut")
        if operation.operation_id == "graphql" and kind.graphql_type:
            errors = [{"type": kind.graphql_type, "message": kind.message}]
            headers = self._headers(now) | {"X-RateLimit-Resource": "graphql"}
            return Answer(200, {"data": None, "errors": errors}, headers)
        body = {"message": kind.message or "Queued fault"} if self.body is None else self.body
        return Answer(kind.status, body, self._headers(now), kind.delivery)

    def _headers(self, now: datetime) -> dict[str, str]:
        if self.kind.message != _PRIMARY:
            return dict(self.kind.headers)
        reset = str(int(now.timestamp()) + 1800)
        date = email.utils.format_datetime(now.astimezone(timezone.utc), usegmt=True)
        return {
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": reset,
            "X-RateLimit-Resource": "core",
            "Date": date,
        }
