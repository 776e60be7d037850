"""A commit's own bytes from what GitHub's API says about it, so that HEAD on a machine is the commit itself.

The API gives times in UTC and drops the author's and committer's zones; a commit's id is the hash of its bytes, so the
zones are found by trying: the right pair is the one that gives the id. A signed commit comes with its bytes as signed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Signer:
    """Name, mail and time of an author or committer; ``at`` is aware."""

    name: str
    email: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What GitHub says of a commit; where it is signed, the payload that was signed and the signature."""

    sha: str
    tree_id: str
    parents: tuple[str, ...]
    author: Signer
    committer: Signer
    message: str
    signed_payload: str = ""
    signature: str = ""


def rebuild_commit_object(facts: CommitFacts) -> bytes | None:
    """Return the commit's content whose git hash is ``facts.sha``, or None when it cannot be found (SHA-1 only)."""
    return next((content for content in _candidates(facts) if _id(content) == facts.sha), None)


def _id(content: bytes) -> str:
    # Git's name for an object, not a protection: its forgery gains nothing here, as the tree is compared as well.
    return hashlib.sha1(b"commit %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _candidates(facts: CommitFacts) -> Iterator[bytes]:
    if facts.signed_payload and facts.signature:
        yield from _signed(facts.signed_payload, facts.signature)
    head = f"tree {facts.tree_id}\n" + "".join(f"parent {parent}\n" for parent in facts.parents)
    messages = dict.fromkeys((facts.message, facts.message.rstrip("\n") + "\n", facts.message.rstrip("\n")))
    zones = list(_zones())
    # Most people commit what they wrote where they wrote it: one zone for both is tried first.
    pairs = [(zone, zone) for zone in zones] + [(one, other) for one in zones for other in zones if one != other]
    author, committer = _line("author", facts.author), _line("committer", facts.committer)
    for author_zone, committer_zone in pairs:
        for message in messages:
            yield f"{head}{author} {author_zone}\n{committer} {committer_zone}\n\n{message}".encode("utf-8", "replace")


def _line(role: str, signer: Signer) -> str:
    return f"{role} {signer.name} <{signer.email}> {int(signer.at.timestamp())}"


def _zones() -> Iterator[str]:
    """Yield the zones in use on Earth, -1200 to +1400, whole hours first, then halves and quarters."""
    minutes = sorted(range(-12 * 60, 14 * 60 + 1, 15), key=lambda value: (value % 60 != 0, value % 30 != 0, abs(value)))
    for value in minutes:
        yield f"{'-' if value < 0 else '+'}{abs(value) // 60:02d}{abs(value) % 60:02d}"


def _signed(payload: str, signature: str) -> Iterator[bytes]:
    """Put the signature back where git keeps it: after the committer, its lines indented by one space."""
    head, separator, body = payload.partition("\n\n")
    for ended in dict.fromkeys((signature.rstrip("\n"), signature)):
        header = "gpgsig " + ended.replace("\n", "\n ")
        for text in dict.fromkeys((body, body.rstrip("\n") + "\n", body.rstrip("\n"))):
            yield f"{head}\n{header}{separator}{text}".encode("utf-8", "replace")
