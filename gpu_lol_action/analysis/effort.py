"""What may still be spent on the files of one checkout, and what was tried in vain: so that no tree takes hours."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_lol_action.analysis.python_code import ParseBudget

MAX_PARSED_BYTES = 12 * 2**20
MAX_SETTINGS_BYTES = 4 * 2**20
TOO_MANY = "not read as configuration, for other files came first"


@dataclass(slots=True)
class Effort:
    """The budget of one checkout, shared by its files, and the paths of what was not understood, by reason.

    It counts down as detectors ask; they ask in a fixed order, so that the same tree gets the same answers.
    """

    python: ParseBudget = field(default_factory=lambda: ParseBudget(MAX_PARSED_BYTES))
    files_read: int = 0
    bytes_read: int = 0
    settings_bytes: int = MAX_SETTINGS_BYTES
    failures: dict[str, str] = field(default_factory=dict)

    def take_settings(self, path: str, size: int) -> bool:
        """Whether a configuration file of that size may still be read."""
        if size > self.settings_bytes:
            self.failures.setdefault(path, TOO_MANY)
            return False
        self.settings_bytes -= size
        return True
