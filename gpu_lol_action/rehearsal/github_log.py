"""What happened on the stand-in, for a story to ask about; and the faults that a story has queued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpu_lol_action.rehearsal.github_openapi import Operation


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it was answered; `status` 0: the connection was closed without an answer."""

    method: str
    path: str
    operation: str
    login: str
    status: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that a story wants instead of the right one.

    `status` 0 closes the connection. Mode `after` lets the change happen first and loses only the answer,
    which is what a 502 of a busy gateway often means.
    """

    pattern: str
    status: int
    mode: Literal["before", "after"] = "before"
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def hits(self, operation: Operation) -> bool:
        """Whether `POST comments`, `PATCH git/refs/{ref}` or `issues/create-comment` means this operation."""
        if self.pattern == operation.operation_id:
            return True
        method, _, tail = self.pattern.partition(" ")
        ends = operation.template == tail or operation.template.endswith("/" + tail.lstrip("/"))
        return method in ("*", operation.method) and ends


@dataclass(slots=True)
class Journal:
    """Requests, faults waiting, and everything that should not have been."""

    requests: list[Seen] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    bad_requests: list[str] = field(default_factory=list)
    bad_responses: list[str] = field(default_factory=list)
    unknown_routes: list[str] = field(default_factory=list)

    def take_fault(self, operation: Operation) -> Fault | None:
        """The oldest fault that means this operation; each is used once."""
        for place, fault in enumerate(self.faults):
            if fault.hits(operation):
                return self.faults.pop(place)
        return None

    def counts(self) -> dict[str, int]:
        """Requests per operation, the busiest first."""
        return dict(Counter(seen.operation for seen in self.requests).most_common())

    def problems(self) -> list[str]:
        """What a story must not leave behind; empty where all went as GitHub would have it."""
        waiting = [f"fault never met: {fault.pattern}" for fault in self.faults]
        return [*self.unknown_routes, *self.bad_requests, *self.bad_responses, *waiting]
