"""What the order of runs sees of each: where it stands, what it does, and what sets it behind others of its kind."""

from __future__ import annotations

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.records import record

README, DOCUMENT, SCRIPT, CONFIGURATION, PROGRAM = range(5)
"""Where a run is told of, the more telling first."""
LIBRARY = 10
"""Levels that a module loses which is only imported."""


@record(frozen=True, slots=True)
class Rank:
    """A run with what the rules see of it.

    ``level``: folders above it; ``kind``: one of ``README`` to ``PROGRAM``; ``is_deeper``: its program lies deeper than that of the first
    one told of; ``is_open``: its reader has to put a configuration in.
    """

    run: Run
    is_beside: bool
    level: int
    kind: int
    is_deeper: bool
    is_variant: bool
    is_main_section: bool
    order: int
    is_use_first: bool = False
    is_open: bool = False
    is_later_stage: bool = False
    use: str = ""
    """Why it goes before what trains, where no document says so."""

    @property
    def is_below(self) -> bool:
        """Whether a launch script lies in some folder: what lies at the root itself is the repository's own."""
        return self.kind == SCRIPT and "/" in self.run.evidence.path

    @property
    def key(self) -> tuple[bool, bool, int, int, bool, bool, bool, bool, bool, bool, bool, int]:
        """The run's place in the order: the least comes first."""
        comes_first = (self.run.behavior is Behavior.TRAINS) is not self.is_use_first
        return (
            not self.use,
            self.is_beside,
            self.level,
            self.kind,
            self.is_deeper,
            self.is_variant,
            not comes_first,
            not self.is_main_section,
            self.is_open,
            self.is_below,
            self.is_later_stage,
            self.order,
        )
