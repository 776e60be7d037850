"""``ledger``: what is on record, of this terminal and of the repository on GitHub; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gpu_lol_action.domain.ledger import Entry, Survey, UnreadableEntry, name_of
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.suggest import nearest
from gpu_lol_action.errors import GpuLolError, UserError
from gpu_lol_action.render.ledger_csv import records_csv, versions_csv
from gpu_lol_action.render.ledger_report import Found, list_text, versions_text
from gpu_lol_action.render.screen import Screen


class LedgerReader(Protocol):
    """A ledger of which only reading is asked."""

    def survey(self) -> Survey:
        """Return the whole ledger at one moment."""
        ...

    def history(self, name: str) -> Sequence[Entry | UnreadableEntry]:
        """Return every record that a name ever had, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """A ledger and what it is called: ``terminal`` or ``github``."""

    name: str
    ledger: LedgerReader


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for: one environment's versions or (None) every record, and how it is printed."""

    environment: str | None
    is_csv: bool
    screen: Screen
    now: datetime


@dataclass(frozen=True, slots=True)
class LedgerAnswer:
    """What is printed, and why a ledger could not be read: its machines may run all the same."""

    text: str
    errors: tuple[GpuLolError, ...] = ()


def describe_ledger(question: Question, sources: Sequence[Source]) -> LedgerAnswer:
    """Return the records of every source that answers. Raises UserError for an environment that none has."""
    found, errors, answered = [], [], []
    for source in sources:
        try:
            found.append(Found(source.name, source.ledger.survey()))
            answered.append(source)
        except GpuLolError as error:
            errors.append(error)
    if question.environment is not None:
        return _versions(question, answered, found, errors)
    silent = len(sources) - len(answered)
    text = records_csv(found) if question.is_csv else list_text(found, silent, question.screen, question.now)
    return LedgerAnswer(redact(text), tuple(errors))


def _versions(
    question: Question, sources: Sequence[Source], found: Sequence[Found], errors: list[GpuLolError]
) -> LedgerAnswer:
    name = question.environment or ""
    parts: list[str] = []
    for source, each in zip(sources, found, strict=True):
        if each.survey.find(name) is None:
            continue
        versions = tuple(reversed(source.ledger.history(name)))
        if question.is_csv:
            parts.append(versions_csv(source.name, versions, has_head=not parts))
        else:
            parts.append(versions_text(each, name, versions, question.screen, question.now))
    if not parts:
        if errors:  # it may stand in the ledger that did not answer
            raise errors[0]
        known = sorted({name_of(entry) for each in found for entry in each.survey.entries})
        raise UserError(
            "environment_not_recorded",
            f"no environment `{name}` is on record.",
            why=f"Near it: {', '.join(near)}." if (near := nearest(name, known)) else "",
            fix="gpu-lol ledger",
        )
    return LedgerAnswer(redact("\n\n".join(parts) if not question.is_csv else "\n".join(parts)), tuple(errors))
