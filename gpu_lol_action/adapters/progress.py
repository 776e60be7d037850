"""Where a run shows its phases: the job's log as folded groups, or a terminal's live line."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable


class JobProgress:
    """Phases as lines of the job's log, through ``log``, which lets nothing be taken for a workflow command."""

    def __init__(self, log: Callable[[str], None], annotate: Callable[[str], None]) -> None:
        """Take where lines go, and where warnings do."""
        self._log = log
        self._annotate = annotate
        self.notes: list[str] = []

    def phase(self, name: str) -> None:
        """Print the phase's name."""
        self._log(f"▸ {name}")

    def line(self, text: str) -> None:
        """Print one line."""
        self._log(f"  {text}")

    def warn(self, text: str) -> None:
        """Print a line that the run's page shows."""
        self._annotate(text)

    def note(self, text: str) -> None:
        """Print one line, and keep it for the job's summary, once."""
        self._log(f"  {text}")
        if text not in self.notes:
            self.notes.append(text)

    def failure(self, error: BaseException) -> None:
        """Print the traceback, for us."""
        self._log("".join(traceback.format_exception(error)))


class TerminalProgress:
    """Phases on standard error, so that standard output stays the answer alone."""

    def phase(self, name: str) -> None:
        """Print the phase's name."""
        print(f"▸ {name}", file=sys.stderr, flush=True)

    def line(self, text: str) -> None:
        """Print one line."""
        print(f"  {text}", file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """Print one line."""
        print(f"! {text}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print one line."""
        print(f"  {text}", file=sys.stderr, flush=True)

    def failure(self, error: BaseException) -> None:
        """Print the traceback, with where to report it."""
        print("".join(traceback.format_exception(error)), file=sys.stderr, flush=True)
