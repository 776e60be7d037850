from __future__ import annotations

import hashlib
from datetime import datetime, timezone

import pytest

from gpu_lol_action.launch.commit_object import CommitFacts, Signer, rebuild_commit_object

TREE, PARENT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "ab" * 20
AT = datetime.fromtimestamp(1700000000, timezone.utc)
AUTHOR, COMMITTER = Signer("Ünï Côdé", "u@example.org", AT), Signer("GitHub", "noreply@github.com", AT)
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----"


def commit(
    author_zone: str, committer_zone: str, message: str, parents: tuple[str, ...] = (PARENT,), extra: str = ""
) -> bytes:
    lines = [f"tree {TREE}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {AUTHOR.name} <{AUTHOR.email}> 1700000000 {author_zone}"]
    lines += [f"committer {COMMITTER.name} <{COMMITTER.email}> 1700000000 {committer_zone}"]
    return ("\n".join(lines) + extra + "\n\n" + message).encode()


def facts_of(content: bytes, message: str, **more: object) -> CommitFacts:
    sha = hashlib.sha1(b"commit %d\0" % len(content) + content).hexdigest()  # noqa: S324 - git's name for it
    return CommitFacts(sha, TREE, (PARENT,), AUTHOR, COMMITTER, message, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("author_zone", "committer_zone"), [("+0000", "+0000"), ("+0530", "-0800"), ("+1345", "+0000"), ("-0330", "-0330")]
)
@pytest.mark.parametrize("message", ["one line", "one line\n", "subject\n\nbödy\n", ""])
def test_rebuild_commit_object_finds_the_zones_that_the_api_drops(
    author_zone: str, committer_zone: str, message: str
) -> None:
    content = commit(author_zone, committer_zone, message)

    assert rebuild_commit_object(facts_of(content, message.rstrip("\n"))) == content


@pytest.mark.parametrize("end", ["", "\n"])
def test_rebuild_commit_object_puts_the_signature_back(end: str) -> None:
    payload = commit("+0200", "+0200", "signed\n")
    header = "\ngpgsig " + (SIGNATURE + end).replace("\n", "\n ")
    content = commit("+0200", "+0200", "signed\n", extra=header)

    facts = facts_of(content, "signed", signed_payload=payload.decode(), signature=SIGNATURE + end)

    assert rebuild_commit_object(facts) == content


def test_rebuild_commit_object_gives_none_for_what_it_cannot_know() -> None:
    content = commit("+0200", "+0200", "x", extra="\nencoding latin-1")

    assert rebuild_commit_object(facts_of(content, "x")) is None
