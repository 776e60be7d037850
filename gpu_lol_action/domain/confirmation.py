"""Two people for a dear machine: what the second one confirms, named so that nothing else can be meant.

Nothing is stored between the two. The request is the requester's own comment, read again from GitHub; the approval is
the confirmer's, who names request, commit and price. The answer of ours between them is a signpost that nobody trusts.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gpu_lol_action.domain.records import record

if TYPE_CHECKING:
    from gpu_lol_action.domain.environment import Requester


SEAL_DIGITS = 16
"""64 bits: another command line with the same seal cannot be found by trying."""

_REQUEST = re.compile(rf"([1-9][0-9]{{0,18}})-([0-9a-f]{{{SEAL_DIGITS}}})")


@record(frozen=True, slots=True)
class WrittenComment:
    """A comment as GitHub has it now. ``is_edited``: its text may not be what its author first wrote."""

    comment_id: int
    pull_request_number: int
    author: Requester
    author_is_bot: bool
    body: str
    created_at: datetime
    is_edited: bool


@record(frozen=True, slots=True)
class Request:
    """The ``up`` that waits for a second person: where it stands, whose it is, its line, and the project that it is for."""

    repository_id: int
    pull_request_number: int
    comment_id: int
    author_id: int
    line: str
    project: str = ""

    @property
    def name(self) -> str:
        """How the confirmer names it: the comment's number, and a seal over everything here."""
        parts = (self.repository_id, self.pull_request_number, self.comment_id, self.author_id, self.line, self.project)
        text = "\n".join(str(part) for part in parts)
        return f"{self.comment_id}-{hashlib.sha256(text.encode()).hexdigest()[:SEAL_DIGITS]}"


@record(frozen=True, slots=True)
class Confirmation:
    """What a second person allowed: who it was, and the price per hour that they named."""

    by: Requester
    price_usd_per_hour: Decimal


def comment_of(name: str) -> int | None:
    """Return the number of the comment that a request's name points to; None where it is no such name."""
    found = _REQUEST.fullmatch(name)
    return int(found[1]) if found else None


def is_same_person(one: Requester, other: Requester) -> bool:
    """Whether two are one: by GitHub's number where both have one, for logins can be changed."""
    if one.user_id is not None and other.user_id is not None:
        return one.user_id == other.user_id
    return one.login.lower() == other.login.lower()
