"""What a language model answered for a proposal, kept so that what follows on it rests on the same answers.

Kept beside what people said about the proposal, for one commit: another one's proposal takes its place. Whoever can write
there may push code anyway; all the same nothing is believed that is read back: the answers pass the same guard as fresh ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gpu_lol_action.domain.lookup import Question
from gpu_lol_action.domain.records import record

MAX_ANSWERS = 6
"""Of one proposal: head and base are asked about once each."""
MAX_CHARACTERS = 2000
MAX_MODEL_CHARACTERS = 200
_HEAD = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@record(frozen=True, slots=True)
class KeptAnswers:
    """Answers by ``digest_of`` what was asked, for the commit ``head``; None for a question that got no answer of use.

    ``model`` is who answered; empty where that is not known.
    """

    head: str = ""
    given: Mapping[str, str | None] = field(default_factory=dict)
    model: str = ""

    def at(self, head: str) -> KeptAnswers:
        """Return what is kept for a commit."""
        return self if self.head == head else KeptAnswers(head)


NOTHING_KEPT = KeptAnswers()


def digest_of(question: Question, model: str) -> str:
    """Return what stands for a question: the same model, rules and data, and nothing else."""
    return hashlib.sha256(json.dumps([model, question.rules, question.data]).encode()).hexdigest()


def kept_to_json(kept: KeptAnswers) -> dict[str, Any] | None:
    """Return the answers as a part of a document; None where there are none."""
    return {"head": kept.head, "model": kept.model, "given": dict(kept.given)} if kept.given else None


def kept_from_json(document: object) -> KeptAnswers:
    """Return the answers behind a part of a document; nothing where it is none that this version wrote: then they are asked for anew."""
    if not isinstance(document, dict):
        return NOTHING_KEPT
    head, given, model = document.get("head"), document.get("given"), document.get("model", "")
    if not isinstance(model, str) or len(model) > MAX_MODEL_CHARACTERS:
        return NOTHING_KEPT
    if not isinstance(head, str) or not _HEAD.fullmatch(head) or not isinstance(given, dict):
        return NOTHING_KEPT
    if len(given) > MAX_ANSWERS or not all(_is_answer(digest, text) for digest, text in given.items()):
        return NOTHING_KEPT
    return KeptAnswers(head, given, model)


def _is_answer(digest: object, text: object) -> bool:
    is_text = text is None or (isinstance(text, str) and len(text) <= MAX_CHARACTERS)
    return isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None and is_text
