"""What is asked from outside: pages of the Hugging Face Hub, a language model's opinion, published prices."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gpu_lol_action.domain.records import record

COPILOT = "copilot"
"""In place of the address of a language model: GitHub Copilot is asked, in a job with the job's own token."""


def is_copilot(address: object) -> bool:
    """Return whether what stands for a language model's address means GitHub Copilot."""
    return isinstance(address, str) and address.strip().lower() == COPILOT


class HubPage(enum.Enum):
    """A page about one model; the value says what it is for a sentence."""

    INFO = "model information"
    CONFIG = "config.json"
    ADAPTER = "adapter_config.json"
    FILES = "list of files"


HubFields = Mapping[str, Any]
"""The JSON object of a page, as hostile as everything else that strangers wrote."""


@record(frozen=True, slots=True)
class Unanswered:
    """Why there is no answer, as the end of a sentence in our own words: nothing that a server said is in it.

    ``is_final``: the far side knows no such thing, so that asking on about it is of no use.
    """

    what: str
    is_final: bool = False


@record(frozen=True, slots=True)
class Question:
    """What a language model is asked: the rules, and the data that they are about.

    ``subject`` is not sent: questions of the same subject, which is what the analyzer answers and what documents say, get one
    answer in a run. A model that is asked twice may say two things, and a pull request would seem to have changed what it did not.
    """

    rules: str
    data: str
    subject: str = ""


@record(frozen=True, slots=True)
class Catalog:
    """The text of a cloud's price catalog as its publisher had it at ``asked_at``."""

    text: str
    asked_at: datetime
