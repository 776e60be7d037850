"""What the ledger hands out: a record with its version, or one that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.environment import EnvironmentRecord


@dataclass(frozen=True, slots=True)
class Entry:
    """A record and the version (commit, or file number) that a change must name."""

    record: EnvironmentRecord
    version: str


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """A record that cannot be read: held as running and reported, never taken for absent."""

    name: str
    version: str
    why: str
