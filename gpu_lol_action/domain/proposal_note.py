"""What is remembered of a pull request's proposal: corrections with who gave them, whether it is muted, a language model's answers.

It is kept in a git ref of its own, not read back from comments: a comment can be edited by others than its author, and
whoever may write a ref of the repository may push code anyway. Who gave a command had the permission when he gave it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from gpu_lol_action.domain import gpus
from gpu_lol_action.domain.corrections import FIELDS, MAX_COUNT, MAX_GIB, Correction, Corrections
from gpu_lol_action.domain.folders import read_folder_name
from gpu_lol_action.domain.kept_answers import NOTHING_KEPT, KeptAnswers, kept_from_json, kept_to_json
from gpu_lol_action.domain.records import record

VERSION = 1
NOTHING_CORRECTED = Corrections()
_MAX_TEXT = 300


@record(frozen=True, slots=True)
class ProposalNote:
    """``set_by`` maps the key of each correction in force to the login that gave it; ``muted_by`` is empty where nobody did.

    ``about`` is the folder of the project whose machine is corrected, empty where none is named: of another one
    nothing was said. ``answers`` are what a language model said when the proposal was made.
    """

    corrections: Corrections = NOTHING_CORRECTED
    set_by: Mapping[str, str] = field(default_factory=dict)
    muted_by: str = ""
    answers: KeptAnswers = NOTHING_KEPT
    about: str = ""

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """What is in force as ``set`` takes it, each with who gave it: ``("vram=48", "ada")``."""
        values = {key: getattr(self.corrections, name) for key, name in FIELDS.items()}
        return tuple((f"{key}={value}", self.set_by.get(key, "")) for key, value in values.items() if value is not None)

    def on(self, project: str) -> ProposalNote:
        """Return what was said of a project's machine; of another one's it is nothing but which project is meant."""
        kept = (
            self.corrections if project == self.about else replace(NOTHING_CORRECTED, project=self.corrections.project)
        )
        return replace(self, corrections=kept, about=project)

    def corrected(self, changes: Sequence[Correction], by: str) -> ProposalNote:
        """Return the note with one more ``set`` over it."""
        corrections = self.corrections.with_changes(changes)
        given = {**self.set_by, **{change.key: by for change in changes}}
        in_force = {key: login for key, login in given.items() if getattr(corrections, FIELDS[key]) is not None}
        return replace(self, corrections=corrections, set_by=in_force)


class UnreadableNote(ValueError):
    """The note is none that this version wrote."""


def note_to_json(note: ProposalNote) -> str:
    """Return the note's text: same note, same bytes."""
    values = {key: getattr(note.corrections, name) for key, name in FIELDS.items()}
    answers = kept_to_json(note.answers)
    document = {
        "version": VERSION,
        "set": {
            key: {"value": value, "by": note.set_by.get(key, "")} for key, value in values.items() if value is not None
        },
        "muted_by": note.muted_by,
        **({"about": note.about} if note.about else {}),
        **({"answers": answers} if answers is not None else {}),
    }
    return json.dumps(document, sort_keys=True, indent=1) + "\n"


def note_from_json(text: str) -> ProposalNote:
    """Return the note behind a text; every value is checked as if a stranger had written it. Raises UnreadableNote."""
    try:
        document = json.loads(text)
        if document["version"] != VERSION:
            raise UnreadableNote(f"version {str(document['version'])[:20]}")
        given = {key: document["set"][key] for key in FIELDS if key in document["set"]}
        changes = [Correction(key, _checked(key, entry["value"])) for key, entry in given.items()]
        set_by = {key: _login(entry["by"]) for key, entry in given.items()}
        corrections, answers = Corrections().with_changes(changes), kept_from_json(document.get("answers"))
        about = document.get("about", "")
        if about != "":
            about = str(_checked("project", about))
        return ProposalNote(corrections, set_by, _login(document["muted_by"]), answers, about)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableNote(str(error)[:200]) from None


def _checked(key: str, value: Any) -> int | str:
    limits = {"vram": range(1, MAX_GIB + 1), "count": range(MAX_COUNT + 1)}
    if key in limits:
        if isinstance(value, bool) or not isinstance(value, int) or value not in limits[key]:
            raise ValueError(key)
        return value
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= _MAX_TEXT:
        raise ValueError(key)
    if key == "project" and read_folder_name(value) != value:
        raise ValueError(key)
    if key == "gpu" and isinstance(gpus.parse_accelerator(value), gpus.UnknownAccelerator):
        raise ValueError(key)
    return value


def _login(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 60 or not value.isprintable():
        raise ValueError("login")
    return value
