"""What GitHub says of one commit, in REST's words and in GraphQL's, as the facts from which its bytes are rebuilt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gpu_lol_action.launch.commit_object import CommitFacts, Signer

_MAX_PARENTS = 100
_SIGNER = "{ name email date }"
COMMIT_FIELDS = (
    f"... on Commit {{ oid message tree {{ oid }} parents(first: {_MAX_PARENTS}) {{ nodes {{ oid }} }} "
    f"author {_SIGNER} committer {_SIGNER} signature {{ payload signature }} }}"
)


def rest_commit(raw: Any) -> CommitFacts:
    """Return the facts of ``GET git/commits/{sha}``. Raises KeyError, TypeError or ValueError where one is not there."""
    verification = raw.get("verification") or {}
    return CommitFacts(
        sha=raw["sha"],
        tree_id=raw["tree"]["sha"],
        parents=tuple(parent["sha"] for parent in raw["parents"]),
        author=_signer(raw["author"]),
        committer=_signer(raw["committer"]),
        message=raw["message"],
        signed_payload=verification.get("payload") or "",
        signature=verification.get("signature") or "",
    )


def graphql_commit(raw: Any) -> CommitFacts | None:
    """Return the facts of `COMMIT_FIELDS`; None for no commit. Raises as `rest_commit` does."""
    if not raw:
        return None
    signature = raw["signature"] or {}
    return CommitFacts(
        sha=raw["oid"],
        tree_id=raw["tree"]["oid"],
        parents=tuple(parent["oid"] for parent in raw["parents"]["nodes"]),
        author=_signer(raw["author"]),
        committer=_signer(raw["committer"]),
        message=raw["message"],
        signed_payload=signature.get("payload") or "",
        signature=signature.get("signature") or "",
    )


def _signer(raw: Any) -> Signer:
    return Signer(raw["name"], raw["email"], datetime.fromisoformat(raw["date"].replace("Z", "+00:00")))
