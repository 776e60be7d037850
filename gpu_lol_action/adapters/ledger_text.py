"""A record as a commit message and back: one object fewer to write, and `git log` on its ref reads as the audit log.

What stands in a record comes from people, pull requests and machines. In a commit message GitHub would link `#12`,
notify `@ada` and count an issue's address as a mention, so such characters are written as JSON's escapes.
"""

from __future__ import annotations

import json

LONGEST_MESSAGE = 32 * 1024
"""GitHub states no limit for commit messages; a longer record goes into a file of the commit's tree instead."""

_ESCAPES = (("@", "\\u0040"), ("#", "\\u0023"), ("/", "\\/"), ("GH-", "\\u0047H-"))
_START = "\n\n{"


def to_message(summary: str, text: str) -> str | None:
    """Return the message of a commit that holds a JSON object; None where it would be too long."""
    try:
        plain = json.dumps(json.loads(text), indent=1)
    except ValueError:
        return None
    for character, escape in _ESCAPES:
        # Outside of strings JSON has none of them, and inside both spellings mean the same.
        plain = plain.replace(character, escape)
    message = f"{summary}\n\n{plain}\n"
    return message if len(message) <= LONGEST_MESSAGE else None


def from_message(message: str) -> str | None:
    """Return the JSON in a commit message; None where there is none."""
    _, start, rest = message.partition(_START)
    return "{" + rest if start else None
