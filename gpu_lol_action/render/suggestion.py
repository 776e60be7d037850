"""A review suggestion for the spec: where in the diff it can stand, and what it says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.domain.spec_edit import SpecEdit
from gpu_lol_action.domain.what_if import LineEdit, WhatIf
from gpu_lol_action.render.formats import usd_per_hour
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
    return shows_lines(patch, edit.first_line, edit.last_line)


def shows_lines(patch: str, first: int, last: int) -> bool:
    """Whether one hunk of a diff shows all lines of that range of the new file."""
    for found in _HUNK.finditer(patch):
        start, count = int(found["start"]), int(found["count"] or 1)
        if start <= first and last < start + count:
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


@dataclass(frozen=True, slots=True)
class CheaperView:
    """What ``reviews/cheaper.md.j2`` shows."""

    marker: Safe
    reason: str
    block: Safe


def cheaper_prefix(pull_request: int) -> str:
    """Return what our suggestions of cheaper configurations start with."""
    return marker_prefix("cheaper", pr=pull_request)


def cheaper_mark(edit: LineEdit) -> str:
    """Return what tells one such suggestion from another: file and words, wherever they stand."""
    return hashlib.sha256(f"{edit.path}\n{edit.new}".encode()).hexdigest()[:16]


def cheaper_text(pull_request: int, what_if: WhatIf, edit: LineEdit) -> str | None:
    """Return the suggestion; None where the line holds what cannot be shown as it is, for a suggestion is taken literally."""
    if clean_lines(edit.new, 2000) != [edit.new] or not edit.new.strip():
        return None
    alternative, candidate = what_if.alternative, what_if.candidate
    machine = f"{candidate.offer.accelerator_count} × {candidate.offer.accelerator}"
    saving = f", {usd_per_hour(what_if.saves_usd_per_hour)} less" if what_if.saves_usd_per_hour is not None else ""
    reason = (
        f"With {alternative.words} {alternative.expected_gib:.1f} GiB per GPU are expected, and {machine} at "
        f"{usd_per_hour(candidate.price_usd_per_hour)} would do{saving}. It costs: {alternative.costs}."
    )
    view = CheaperView(
        build_marker("cheaper", pr=pull_request, sum=cheaper_mark(edit)), reason, fence(edit.new, "suggestion", 2000)
    )
    return fill("reviews/cheaper.md.j2", view=view)


def fingerprint(edit: SpecEdit) -> str:
    """Return what tells one suggestion from another: the words, wherever they stand."""
    return hashlib.sha256("\n".join(edit.lines).encode()).hexdigest()[:16]


def withdrawn_text(pull_request: int) -> str:
    """Return what is left of a suggestion that later commits have overtaken."""
    return f"{build_marker('withdrawn', pr=pull_request)}\n_This suggestion is outdated: the code has changed since._"
