"""What can go wrong, who reads about it, and how a door exits: the one table of endings.

Expected answers (a denial, no capacity, an event that is none of our business) are values, not
exceptions; see ``docs/errors.md``. Exceptions here end a run early and carry a message a person can act on.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Door(enum.Enum):
    """Where a run was started from; it decides the exit code of an expected denial."""

    JOB = "job"
    TERMINAL = "terminal"


class Ending(enum.Enum):
    """How a run ended, in the order of the table in house.md section 4."""

    ANSWERED = "answered"
    DENIED = "denied"
    USER_ERROR = "user_error"
    SPEC_ERROR = "spec_error"
    OPERATOR_ERROR = "operator_error"
    TRANSIENT_ERROR = "transient_error"
    INTERNAL_ERROR = "internal_error"
    CANCELLED = "cancelled"
    TEST_FAILED = "test_failed"
    TEST_NOT_RUN = "test_not_run"


_JOB_EXIT_CODES = {
    Ending.ANSWERED: 0,
    Ending.DENIED: 0,
    Ending.USER_ERROR: 0,
    Ending.SPEC_ERROR: 1,
    Ending.OPERATOR_ERROR: 2,
    Ending.INTERNAL_ERROR: 3,
    Ending.TRANSIENT_ERROR: 4,
    Ending.CANCELLED: 130,
    Ending.TEST_FAILED: 1,
    # No verdict on the code: a red job would be taken for one. A script at a terminal has to see it.
    Ending.TEST_NOT_RUN: 0,
}
_TERMINAL_EXIT_CODES = {Ending.TEST_NOT_RUN: 4}


def exit_code(ending: Ending, door: Door) -> int:
    """Exit status of a run: in a job an expected denial is green (0), in a terminal it is 1."""
    code = _JOB_EXIT_CODES[ending]
    if door is Door.TERMINAL and ending in _TERMINAL_EXIT_CODES:
        return _TERMINAL_EXIT_CODES[ending]
    if door is Door.TERMINAL and code == 0 and ending is not Ending.ANSWERED:
        return 1
    return code


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a person is told: at most six lines, always in this order (house.md section 4).

    ``what`` happened with the value, ``why`` with what it was compared to, ``fix`` one command or
    setting to try. The billing line is added by the template, because it is about the environment.
    """

    what: str
    why: str = ""
    fix: str = ""


class GpuLolError(Exception):
    """Base of every error that ends a run with a message for a person."""

    ending: Ending = Ending.INTERNAL_ERROR

    def __init__(self, reason_code: str, what: str, *, why: str = "", fix: str = "") -> None:
        """Keep the reason code (snake_case past fact) and the explanation."""
        super().__init__(f"{reason_code}: {what}")
        self.reason_code = reason_code
        self.explanation = Explanation(what, why, fix)
        # Set by a handler that has told the requester already, so that nobody reads it twice.
        self.is_told = False


class UserError(GpuLolError):
    """The request is wrong; the requester reads it and can mend it."""

    ending = Ending.USER_ERROR


class SpecError(UserError):
    """``.gpu-lol.yaml`` (or the policy file) is wrong at a line that we can name."""

    ending = Ending.SPEC_ERROR

    def __init__(self, reason_code: str, what: str, *, path: str, line: int, why: str = "", fix: str = "") -> None:
        """Keep the file and the 1-based line beside the explanation."""
        super().__init__(reason_code, what, why=why, fix=fix)
        self.path = path
        self.line = line


class OperatorError(GpuLolError):
    """A secret, permission, quota or credential is missing; a maintainer reads it. Never holds the value."""

    ending = Ending.OPERATOR_ERROR


class TransientError(GpuLolError):
    """An outage or a limit that went on after bounded retries; trying again later is the fix."""

    ending = Ending.TRANSIENT_ERROR


class LostRace(GpuLolError):
    """Another run changed the record first; the caller reads it anew and decides again."""

    ending = Ending.TRANSIENT_ERROR
