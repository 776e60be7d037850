"""A finding: one value read from the code, where it stands, why it counts, and how sure we are."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from gpu_lol_action.domain.records import record


class Confidence(enum.IntEnum):
    """How sure a detector is; the order is the weight."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """A place in the checkout: path with forward slashes relative to its root, 1-based line (0: the whole file)."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        """Return ``path:line`` as compilers print it."""
        return f"{self.path}:{self.line}" if self.line else self.path


@record(frozen=True, slots=True)
class Finding:
    """One detected fact about the code.

    ``field`` is the dotted name of what it speaks for (``hardware.gpu_count``, ``model.id``,
    ``training.batch_size``), ``value`` is its text, ``why`` is one sentence for a person.
    """

    field: str
    value: str
    why: str
    confidence: Confidence
    evidence: Evidence
