"""A review suggestion for the spec: where in the diff it can stand, and what it says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.domain.spec_edit import SpecEdit
from gpu_lol_action.render.markdown import Safe, clean_lines, fence
from gpu_lol_action.render.marker import build_marker, marker_prefix
from gpu_lol_action.render.templating import fill

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """What ``reviews/suggestion.md.j2`` shows."""

    marker: Safe
    reasons: tuple[str, ...]
    block: Safe


def suggestion_prefix(pull_request: int) -> str:
    """Return what our suggestions on this pull request start with."""
    return marker_prefix("suggestion", pr=pull_request)


def is_in_diff(patch: str, edit: SpecEdit) -> bool:
    """Whether one hunk of the diff shows all of the lines: GitHub takes a suggestion nowhere else."""
    for found in _HUNK.finditer(patch):
        start, count = int(found["start"]), int(found["count"] or 1)
        if start <= edit.first_line and edit.last_line < start + count:
            return True
    return False


def suggestion_text(pull_request: int, edit: SpecEdit, differences: Sequence[SpecDifference]) -> str | None:
    """Return the comment; None where a line holds what cannot be shown as it is, for a suggestion is taken literally."""
    lines = edit.lines
    if clean_lines("\n".join(lines), 2000) != list(lines) or not any(line.strip() for line in lines):
        return None
    reasons = tuple(f"`{each.key}`: {each.why}" if each.why else f"`{each.key}`" for each in differences)
    block = fence("\n".join(lines), "suggestion", 2000)
    view = SuggestionView(build_marker("suggestion", pr=pull_request, sum=fingerprint(edit)), reasons, block)
    return fill("reviews/suggestion.md.j2", view=view)


def fingerprint(edit: SpecEdit) -> str:
    """Return what tells one suggestion from another: the words, wherever they stand."""
    return hashlib.sha256("\n".join(edit.lines).encode()).hexdigest()[:16]


def withdrawn_text(pull_request: int) -> str:
    """Return what is left of a suggestion that later commits have overtaken."""
    return f"{build_marker('withdrawn', pr=pull_request)}\n_This suggestion is outdated: the code has changed since._"
