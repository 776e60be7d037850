"""What GitHub Copilot's program printed, as an answer or as why there is none, in our own words.

With ``--output-format json`` it prints a JSON object a line: ``assistant.message`` with the answer in ``data.content``,
``session.error`` with ``data.errorType`` and ``data.statusCode``. What fails before a session begins stands on standard error,
in sentences (read of version 1.0.102).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.domain.lookup import Unanswered

NO_LOGIN = "GitHub Copilot's program found no login: run `copilot` once and log in, or set COPILOT_GITHUB_TOKEN"
REFUSED = "GitHub Copilot refused the token: the job lacks `copilot-requests: write`, or Copilot is not allowed for this owner"
USED_UP = "GitHub Copilot's AI credits of this owner are used up"
BUSY = "GitHub Copilot takes no more requests for now"
CLASSIC = "GitHub Copilot takes no classic token (`ghp_`): a fine-grained one with `Copilot Requests`, or a job's own"
NO_MODEL = "GitHub Copilot knows no such model, or this owner may not use it"
UNREACHED = "GitHub Copilot could not be reached"
SILENT = "GitHub Copilot gave no answer"

_BY_STATUS = {401: REFUSED, 402: USED_UP, 403: REFUSED, 404: NO_MODEL, 429: BUSY}
_BY_TYPE = {"authentication": REFUSED, "authorization": REFUSED, "quota": USED_UP, "rate_limit": BUSY, "query": SILENT}
_BY_WORDS = (
    ("No authentication information found", NO_LOGIN),
    ("Classic Personal Access Tokens", CLASSIC),
    ("error sending request", UNREACHED),
    ("from --model flag is not available", NO_MODEL),
    ("AI credits", USED_UP),
    ("could not be validated", REFUSED),
    ("Failed to load models", REFUSED),
    ("Authentication failed", REFUSED),
    ("Access denied by policy", REFUSED),
    ("ot licensed to use Copilot", REFUSED),
    ("not authorized to use this Copilot feature", REFUSED),
    ("does not have Copilot Requests", REFUSED),
)
"""Sentences of standard error, the more telling ones first: a list of models fails to load for many reasons."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What the program left: its events, its complaints, and its exit status."""

    events: bytes
    complaints: bytes
    status: int


def read_printed(printed: Printed) -> str | Unanswered:
    """Return the text of the last answer, or why there is none. Nothing that the far side said is in that."""
    answer, error = "", None
    for event in _events(printed.events):
        data = event.get("data")
        fields = data if isinstance(data, dict) else {}
        content = fields.get("content")
        if event.get("type") == "assistant.message" and isinstance(content, str) and content.strip():
            answer = content
        elif event.get("type") == "session.error":
            error = fields
    if error is not None:
        return Unanswered(_failed(error, printed.status))
    if printed.status != 0:
        complaints = printed.complaints.decode("utf-8", "replace")
        return Unanswered(next((what for words, what in _BY_WORDS if words in complaints), _ended(printed.status)))
    return answer or Unanswered(SILENT)


def _failed(error: dict[str, Any], status: int) -> str:
    code, kind = error.get("statusCode"), error.get("errorType")
    if isinstance(code, int) and 100 <= code < 600:
        return _BY_STATUS.get(code, f"GitHub Copilot answered with status {code}")
    return _BY_TYPE.get(kind, _ended(status)) if isinstance(kind, str) else _ended(status)


def _ended(status: int) -> str:
    return f"GitHub Copilot's program ended with exit status {status}"


def _events(printed: bytes) -> Iterator[dict[str, Any]]:
    for line in printed.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the last line may be cut, and others may be no JSON
        if isinstance(event, dict):
            yield event
