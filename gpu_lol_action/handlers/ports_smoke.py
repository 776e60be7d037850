"""The hands of smoke tests: the book of past runs, and the one issue about a branch that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gpu_lol_action.domain.measured import MeasuredBook
from gpu_lol_action.domain.smoke import SmokeHistory


class SmokeBook(Protocol):
    """The runs of this repository's branches, kept with the ledger."""

    def read(self, branch: str) -> SmokeHistory:
        """Return a branch's runs; none where nothing was run yet. Raises TransientError for a broken one."""
        ...

    def change(self, branch: str, edit: Callable[[SmokeHistory], SmokeHistory]) -> SmokeHistory:
        """Write the edited history, again over whatever was written meanwhile, and return it."""
        ...


@dataclass(frozen=True, slots=True)
class StandingIssue:
    """An issue of ours as it is now."""

    number: int
    is_open: bool
    body: str


class MeasuredRuns(Protocol):
    """What runs of this repository were measured to use, kept with the ledger."""

    def read(self) -> MeasuredBook:
        """Return the runs; none where nothing was measured yet. Raises TransientError for a broken book."""
        ...

    def change(self, edit: Callable[[MeasuredBook], MeasuredBook]) -> MeasuredBook:
        """Write the edited book, again over whatever was written meanwhile, and return it."""
        ...


class Issues(Protocol):
    """Issues that this token wrote."""

    def read(self, number: int) -> StandingIssue | None:
        """Return an issue, or None where it is gone or not ours."""
        ...

    def open(self, title: str, body: str) -> int:
        """Open an issue, exactly once even when an answer is lost (the body's marker identifies it); return its number."""
        ...

    def edit(self, number: int, *, body: str, title: str, is_open: bool) -> None:
        """Replace an issue's text and title, and close or reopen it."""
        ...

    def comment(self, number: int, body: str) -> None:
        """Add a comment, exactly once."""
        ...
