"""The hands of smoke tests: the book of past runs, the one issue about a branch that fails, the label that starts one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.domain.measured import MeasuredBook
from gpu_lol_action.domain.smoke import SmokeHistory
from gpu_lol_action.domain.smoke_issue import IssueDraft, StandingIssue


class SmokeBook(Protocol):
    """The runs of this repository's branches, kept with the ledger."""

    def read(self, branch: str) -> SmokeHistory:
        """Return a branch's runs; none where nothing was run yet. Raises TransientError for a broken one."""
        ...

    def change(self, branch: str, edit: Callable[[SmokeHistory], SmokeHistory]) -> SmokeHistory:
        """Write the edited history, again over whatever was written meanwhile, and return it."""
        ...


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

    def read(self, number: int, marker_prefix: str) -> StandingIssue | None:
        """Return an issue, or None where it is gone or not ours."""
        ...

    def find(self, marker_prefix: str) -> StandingIssue | None:
        """Return our newest issue that starts with the marker, open or closed, among those that changed last."""
        ...

    def open(self, title: str, body: str) -> StandingIssue:
        """Open an issue, exactly once even when an answer is lost. Raises OperatorError, UserError where it may not be."""
        ...

    def edit(self, number: int, draft: IssueDraft) -> None:
        """Replace an issue's text and title, and close or reopen it."""
        ...

    def comment(self, number: int, body: str) -> None:
        """Add a comment, exactly once."""
        ...


class Labels(Protocol):
    """The labels of pull requests."""

    def word(self, number: int, label: str, login: str) -> LabelWord:
        """Return when this person last set the label, and when the head's repository was pushed to; None: not told."""
        ...

    def take_off(self, number: int, label: str) -> None:
        """Take a label off; one that is not there is no error."""
        ...


class ReportFiles(Protocol):
    """Where reports lie for whoever keeps them: a workflow's artifact, or a person."""

    def write(self, files: Mapping[str, bytes]) -> str:
        """Write them in place of what an earlier run left; return the folder. Raises OperatorError where it cannot."""
        ...
