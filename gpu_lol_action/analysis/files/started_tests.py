"""Programs that are only named like tests (`u2net_test.py`, `test_time_compute.py`): a document starts them by Python itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from gpu_lol_action.analysis.formats.paths import Form, Role, is_named_like_a_test
from gpu_lol_action.domain.patterns import regex

MAX_STARTED = 40
_STARTED = regex(
    r"\b(?:python[\d.]{0,4}|torchrun|launch|deepspeed)\s[^\n`]{0,300}?((?:[\w.-]{1,80}/){0,8}[\w.-]{1,80}\.py)(?![\w/])"
)
# Who changes the code is told to start its tests; who uses it is told what to start.
_FOR_DEVELOPERS = regex(r"contribut|develop|agents|claude|pull_request|testing|changelog|release")
_OF_A_FRAMEWORK = (b"pytest", b"unittest", b"absltest", b"TestCase", b"tf.test")


class Read(Protocol):
    """What is asked of a file."""

    @property
    def path(self) -> str:
        """Path relative to the root."""

    @property
    def form(self) -> Form:
        """How it is read."""

    @property
    def role(self) -> Role:
        """What it speaks for."""

    @property
    def text(self) -> str:
        """Its text."""


def started_tests(sources: Iterable[Read]) -> Iterator[str]:
    """Yield the paths of programs that are left out for their file's name alone, and that a document for users starts."""
    named = {source.path for source in sources if source.form is Form.PYTHON and is_named_like_a_test(source.path)}
    if not named:
        return
    told: dict[str, None] = {}
    for source in sources:
        is_document = source.form is Form.MARKDOWN and source.role is Role.DOCUMENTATION
        if is_document and "test" in source.text and not _FOR_DEVELOPERS.search(source.path.lower()):
            told.update(dict.fromkeys(found[1].removeprefix("./") for found in _STARTED.finditer(source.text)))
    ends = [path for path in told if "test" in path.rpartition("/")[2].lower()][:MAX_STARTED]
    yield from sorted({path for path in named if any(path == end or path.endswith(f"/{end}") for end in ends)})


def is_of_a_framework(content: bytes) -> bool:
    """Whether a program is written for a framework that tests code."""
    return any(word in content for word in _OF_A_FRAMEWORK)
