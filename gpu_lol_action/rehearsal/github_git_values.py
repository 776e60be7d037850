"""What the stand-in's git holds, as values: commits and who signed them, entries of trees, changes of files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone

ZERO = "0" * 40
# What git takes into a commit as it is; from other names it strips some characters.
_PLAIN = re.compile(r"\w(?:[\w @.+\[\]-]*[\w\]])?")
# No setting of this machine may change an object or a diff.


@dataclass(frozen=True, slots=True)
class Signature:
    """Who made a commit, and when (aware)."""

    name: str
    email: str
    when: datetime


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as git stores it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of a tree; `size` is None for anything but a blob."""

    mode: str
    kind: str
    sha: str
    size: int | None
    path: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file between two commits, with git's status word as GitHub words it."""

    path: str
    previous_path: str | None
    status: str
    additions: int
    deletions: int
    sha: str
    patch: str | None


def parse_commit(sha: str, content: str) -> Commit:
    head, _, message = content.partition("\n\n")
    # A signature's lines begin with a blank, and are told apart by that.
    parts = [line.partition(" ") for line in head.split("\n") if not line.startswith(" ")]
    fields = [(name, value) for name, _, value in parts]
    named = dict(fields)
    return Commit(
        sha=sha,
        tree=named["tree"],
        parents=tuple(value for name, value in fields if name == "parent"),
        author=_signed(named["author"]),
        committer=_signed(named["committer"]),
        message=message.rstrip("\n"),
    )


def _signed(line: str) -> Signature:
    name, _, rest = line.partition(" <")
    email, _, moment = rest.rpartition("> ")
    return signature_of(name, email, moment.split(" ")[0])


def signature_of(name: str, email: str, seconds: str) -> Signature:
    return Signature(name, email, datetime.fromtimestamp(int(seconds), timezone.utc))
