"""What may still be spent on the files of one checkout, and what was tried in vain: so that no tree takes hours."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import field
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gpu_lol_action.analysis.python.code import ParseBudget
from gpu_lol_action.domain.records import record

MAX_PARSED_BYTES = 12 * 2**20
MAX_SETTINGS_BYTES = 4 * 2**20
TOO_MANY = "not read as configuration, for other files came first"
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


@record(slots=True)
class Effort:
    """The budget of one checkout, shared by its files, and the paths of what was not understood, by reason.

    It counts down as detectors ask; they ask in a fixed order, so that the same tree gets the same answers.
    """

    python: ParseBudget = field(default_factory=lambda: ParseBudget(MAX_PARSED_BYTES))
    files_read: int = 0
    bytes_read: int = 0
    settings_bytes: int = MAX_SETTINGS_BYTES
    failures: dict[str, str] = field(default_factory=dict)
    answers: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """What was found out of the checkout's files and is asked again by every run; goes when the checkout goes."""

    def take_settings(self, path: str, size: int) -> bool:
        """Whether a configuration file of that size may still be read."""
        if size > self.settings_bytes:
            self.failures.setdefault(path, TOO_MANY)
            return False
        self.settings_bytes -= size
        return True


class _Owner(Hashable, Protocol):
    """A file or a whole checkout, which carry what is spent on them."""

    @property
    def effort(self) -> Effort: ...


Owner = TypeVar("Owner", bound=_Owner)


def remembered(function: Callable[Concatenate[Owner, Asked], Answer]) -> Callable[Concatenate[Owner, Asked], Answer]:
    """Answer a question about a file or checkout once, as long as the checkout is in use: nothing outlives it.

    The other arguments are values that can be compared; the same ones get the same answer.
    """

    @functools.wraps(function)
    def ask(owner: Owner, /, *words: Asked.args, **named: Asked.kwargs) -> Answer:
        answers = owner.effort.answers
        key = (function, owner, words, tuple(named.items()))
        if key not in answers:
            answers[key] = function(owner, *words, **named)
        answer: Answer = answers[key]
        return answer

    return ask
