"""What was saved from a machine before its end, and where it lies."""

from __future__ import annotations

from datetime import datetime

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Kept:
    """Where saved work lies: ``locator`` finds it again, ``command`` writes it to ``work.age`` (empty: a person has the file).

    ``recipients`` counts the person's own keys that open it.
    """

    locator: str
    command: str
    recipients: int


@record(frozen=True, slots=True)
class Rescue:
    """What was saved, or in ``problem`` why nothing was. Counts are of files and commits; ``size_bytes`` is packed."""

    at: datetime
    changed: int = 0
    commits: int = 0
    files: int = 0
    left_out: int = 0
    size_bytes: int = 0
    locator: str = ""
    command: str = ""
    recipients: int = 0
    problem: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether there is something to get back."""
        return bool(self.locator)
