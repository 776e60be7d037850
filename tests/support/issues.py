"""Scripted issues of one repository, as the port has them; what was done is kept in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from gpu_lol_action.domain.smoke_issue import IssueDraft, StandingIssue
from gpu_lol_action.errors import GpuLolError


@dataclass
class ScriptedIssues:
    """``error`` is raised by each call where it is set."""

    now: Callable[[], datetime]
    issues: dict[int, StandingIssue] = field(default_factory=dict)
    comments: list[tuple[int, str]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    error: GpuLolError | None = None

    def _note(self, text: str) -> None:
        self.log.append(text)
        if self.error is not None:
            raise self.error

    def read(self, number: int, marker_prefix: str) -> StandingIssue | None:
        self._note(f"read {number}")
        return self.issues.get(number)

    def find(self, marker_prefix: str) -> StandingIssue | None:
        self._note("find")
        found = [issue for issue in self.issues.values() if issue.body.startswith(marker_prefix)]
        return found[-1] if found else None

    def open(self, title: str, body: str) -> StandingIssue:
        self._note("open")
        number = len(self.issues) + 21
        url = f"https://github.com/acme/train/issues/{number}"
        self.issues[number] = StandingIssue(number, is_open=True, body=body, title=title, url=url)
        return self.issues[number]

    def edit(self, number: int, draft: IssueDraft) -> None:
        self._note(f"edit {number}" if draft.is_open else f"close {number}")
        closed_at = None if draft.is_open else self.now()
        old = self.issues[number]
        self.issues[number] = replace(
            old, is_open=draft.is_open, body=draft.body, title=draft.title, closed_at=closed_at
        )

    def comment(self, number: int, body: str) -> None:
        self._note(f"comment {number}")
        self.comments.append((number, body))
