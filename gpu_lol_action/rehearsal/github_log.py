"""What happened on the stand-in, for a story to ask about; and the faults that a story has queued."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gpu_lol_action.rehearsal.github_faults import Fault
from gpu_lol_action.rehearsal.github_openapi import Operation


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it was answered; `status` 0: the connection was closed without an answer."""

    method: str
    path: str
    operation: str
    login: str
    status: int


@dataclass(slots=True)
class Journal:
    """Requests, faults waiting, and everything that should not have been."""

    requests: list[Seen] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    bad_requests: list[str] = field(default_factory=list)
    bad_responses: list[str] = field(default_factory=list)
    unknown_routes: list[str] = field(default_factory=list)

    def take_fault(self, operation: Operation) -> Fault | None:
        """The oldest fault that means this operation, and whose turn it is; each is used once."""
        meant = [fault for fault in self.faults if fault.hits(operation)]
        due = next((fault for fault in meant if fault.skip == 0), None)
        for fault in meant:
            fault.skip = max(fault.skip - 1, 0)
        if due is not None:
            self.faults.remove(due)
        return due

    @property
    def has_stale(self) -> bool:
        """Whether a story waits for an old answer: only then is the past kept."""
        return any(fault.mode == "stale" for fault in self.faults)

    def counts(self) -> dict[str, int]:
        """Requests per operation, the busiest first."""
        return dict(Counter(seen.operation for seen in self.requests).most_common())

    def problems(self) -> list[str]:
        """What a story must not leave behind; empty where all went as GitHub would have it."""
        waiting = [f"fault never met: {fault.pattern}" for fault in self.faults]
        return [*self.unknown_routes, *self.bad_requests, *self.bad_responses, *waiting]
