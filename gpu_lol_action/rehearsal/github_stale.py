"""An older version of the stand-in's answers: what a replica says that has not heard of the last change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpu_lol_action.rehearsal.github_state import Comment, Issue, Reaction, Repository, World

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Moment:
    """A repository as it was: conversation, checks and refs. Git's objects never change, so they need no keeping."""

    issues: dict[int, Issue]
    comments: dict[int, Comment]
    reactions: dict[int, Reaction]
    records: dict[str, dict[int, dict[str, Any]]]
    refs: dict[str, str]


class Replica:
    """Keeps each repository as it was before the last change."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._moments: dict[str, Moment] = {}

    def keep(self) -> None:
        """Remember everything as it is now; called before a change."""
        self._moments = {name: _moment(home) for name, home in self._world.repositories.items()}

    def behind(self, question: Callable[[], T]) -> T:
        """The answer to a question, as it would have been at the moment that was kept."""
        with self._rewound():
            return question()

    @contextmanager
    def _rewound(self) -> Iterator[None]:
        present: list[tuple[Repository, Moment]] = []
        for name, moment in self._moments.items():
            home = self._world.repositories.get(name)
            if home is not None:
                present.append((home, _shown(home)))
                _show(home, moment)
                home.git.shown_refs = moment.refs
        try:
            yield
        finally:
            for home, moment in present:
                _show(home, moment)
                home.git.shown_refs = None


def _moment(home: Repository) -> Moment:
    """Copies of what changes in place; people and repositories stay the ones that they are."""
    return Moment(
        issues={
            number: replace(issue, pull=issue.pull and replace(issue.pull)) for number, issue in home.issues.items()
        },
        comments={number: replace(comment) for number, comment in home.comments.items()},
        reactions=dict(home.reactions),
        records={kind: {number: dict(each) for number, each in kept.items()} for kind, kept in home.records.items()},
        refs=home.git.refs("refs/"),
    )


def _shown(home: Repository) -> Moment:
    return Moment(home.issues, home.comments, home.reactions, home.records, {})


def _show(home: Repository, moment: Moment) -> None:
    home.issues, home.comments = moment.issues, moment.comments
    home.reactions, home.records = moment.reactions, moment.records
