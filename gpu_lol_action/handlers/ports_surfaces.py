"""The hands for what is shown beside comments; each may be refused for want of a permission, and then is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Posted
from gpu_lol_action.domain.surfaces import CheckReport, DeploymentState, FileCommit, Standing, Suggestion


class Conversation(Protocol):
    """A pull request and our comments on it."""

    def standing(self, number: int, marker_prefix: str, *, is_final: bool) -> Standing | None:
        """Return how it stands now; None where this token cannot ask. ``is_final``: this run writes no record or policy."""
        ...

    def hide(self, node_id: str) -> None:
        """Fold a comment away as outdated."""
        ...


class Checks(Protocol):
    """Check runs of commits."""

    def report(self, report: CheckReport) -> bool:
        """Write the one check run of a commit; return whether anything changed."""
        ...


class Deployments(Protocol):
    """Deployments of environments."""

    def begin(self, record: EnvironmentRecord) -> None:
        """Make the deployment of a claim, pending."""
        ...

    def move(
        self, record: EnvironmentRecord, state: DeploymentState, log_url: str | None, environment_url: str | None
    ) -> None:
        """Give it another state; nothing where there is none."""
        ...


class Suggestions(Protocol):
    """Review comments with a suggestion."""

    def patch_of(self, number: int, path: str) -> str | None:
        """Return the diff of a file in the pull request; None where it is not in the diff."""
        ...

    def standing(self, number: int, marker_prefix: str, author: str) -> Sequence[Posted]:
        """Return our review comments that start with the marker."""
        ...

    def suggest(self, number: int, suggestion: Suggestion) -> None:
        """Post a suggestion at its lines."""
        ...

    def edit(self, comment_id: int, body: str) -> None:
        """Replace a review comment's text."""
        ...


class LastChange(Protocol):
    """Who wrote the newest commit that touched a file, and its message."""

    @property
    def author(self) -> str:
        """The login behind the commit; empty where GitHub knows none."""
        ...

    @property
    def message(self) -> str:
        """The commit's message."""
        ...


class Commits(Protocol):
    """Commits on branches."""

    def last_change(self, repository: str, sha: str, path: str | None = None) -> LastChange | None:
        """Return the newest commit up to ``sha`` that touched the file (or any)."""
        ...

    def commit(self, change: FileCommit) -> str | None:
        """Write a file on top of its parent; None where the branch has moved meanwhile or may not be written."""
        ...


class Notes(Protocol):
    """What people have said about proposals."""

    def read(self, number: int) -> ProposalNote:
        """Return a pull request's note."""
        ...

    def change(self, number: int, edit: Callable[[ProposalNote], ProposalNote]) -> ProposalNote:
        """Write the edited note and return it."""
        ...


@dataclass(frozen=True, slots=True)
class Surfaces:
    """What GitHub shows beside comments; a terminal has none of it."""

    conversation: Conversation
    checks: Checks
    deployments: Deployments
    suggestions: Suggestions
    commits: Commits
    notes: Notes
