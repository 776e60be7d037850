"""Which lines of a file a change touches, and which of them a finding means: an annotation belongs on a line of the diff.

A finding stands where its statement begins: the first line of a command over ten lines, the call that an argument is of.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MOST_LINES = 4000
"""Compared line by line between what both have in common at their ends; of more, all that lies between counts as touched."""
REACH = 80
"""Lines below a statement's first in which its arguments are looked for."""

_NAMED = regex(r"`([^`\s]{1,80})`")


def touched_lines(old: str, new: str) -> tuple[int, ...]:
    """Return the lines of the new text (1-based) that are not in the old one; below what was taken out, the line that follows."""
    before, after = old.split("\n"), new.split("\n")
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old_part, new_part = before[start : len(before) - end], after[start : len(after) - end]
    if len(old_part) + len(new_part) > MOST_LINES:
        return tuple(range(start + 1, start + len(new_part) + 1))
    found: set[int] = set()
    for tag, _, _, first, last in difflib.SequenceMatcher(None, old_part, new_part, autojunk=False).get_opcodes():
        if tag == "delete":
            found.add(min(start + first + 1, len(after)))
        elif tag != "equal":
            found.update(range(start + first + 1, start + last + 1))
    return tuple(sorted(found))


def pinned(finding: Finding, base: Checkout, head: Checkout) -> Evidence:
    """Return the line of the diff that a finding of the head means; its own place where no touched line says the same."""
    place = finding.evidence
    new = head.find(place.path)
    old = base.find(place.path)
    if new is None or old is None or new.form is Form.NOTEBOOK or new.content == old.content:
        return place
    touched = touched_lines(old.text, new.text)
    if place.line in touched and place.line:
        return place
    lines = new.text.split("\n")
    near = [number for number in touched if not place.line or place.line <= number <= place.line + REACH]
    line = _telling(finding, lines, near)
    return Evidence(place.path, line) if line else place


def _telling(finding: Finding, lines: Sequence[str], numbers: Sequence[int]) -> int:
    """Return the first touched line that says the setting with its value, else the setting, else the value; 0: none does."""
    keys = [word.lstrip("-").replace("-", "_").lower() for word in _NAMED.findall(finding.why)]
    value = re.compile(rf"(?<![\w.]){re.escape(finding.value)}(?![\w.])", re.IGNORECASE)
    says_key = [n for n in numbers if any(key and key in _words(lines[n - 1]) for key in keys)]
    says_value = [n for n in numbers if value.search(lines[n - 1])]
    both = [n for n in says_key if n in set(says_value)]
    return next(iter(both or says_key or says_value), 0)


def _words(line: str) -> str:
    return line.replace("-", "_").lower()
