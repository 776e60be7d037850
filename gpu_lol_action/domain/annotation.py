"""A sentence at a line of a file: what checks and the job's log show beside the code."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.records import record


class Level(enum.Enum):
    """How loud an annotation is."""

    NOTICE = "notice"
    WARNING = "warning"
    FAILURE = "failure"


@record(frozen=True, slots=True)
class Annotation:
    """A sentence at a line (1-based; 0: the whole file) of the commit that was read."""

    path: str
    line: int
    level: Level
    title: str
    message: str
