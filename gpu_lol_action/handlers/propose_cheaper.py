"""A cheaper configuration as a suggestion in the review: where one literal of the diff is all that is to be written."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.request import Posted, PullRequest
from gpu_lol_action.domain.surfaces import Standing, Suggestion
from gpu_lol_action.domain.what_if import LineEdit, WhatIf
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.ports_surfaces import Surfaces
from gpu_lol_action.handlers.surfaces import attempt
from gpu_lol_action.render.suggestion import cheaper_mark, cheaper_prefix, cheaper_text, shows_lines, withdrawn_text

MOST_FILES = 3
"""Whose diffs are asked for: the best of what saves most, and no search through a large pull request."""


@dataclass(frozen=True, slots=True)
class Cheaper:
    """What could be suggested, the largest saving first. ``mode`` is the policy's: only `suggest` writes into reviews."""

    pull_request: PullRequest
    standing: Standing
    what_ifs: tuple[WhatIf, ...]
    mode: str


def suggest_cheaper(context: Context, cheaper: Cheaper) -> None:
    """Keep one suggestion on the pull request: that which saves most; withdraw one that later commits overtook."""
    surfaces = context.surfaces
    if surfaces is None or cheaper.mode != "suggest" or not cheaper.standing.is_open:
        return
    number = cheaper.pull_request.number

    def keep() -> None:
        chosen = _choose(context, surfaces, cheaper)
        standing = surfaces.suggestions.standing(number, cheaper_prefix(number), cheaper.standing.me)
        same = [each for each in standing if chosen is not None and _is_same(each, chosen[0])]
        for outdated in standing:
            if outdated not in same:
                surfaces.suggestions.edit(outdated.comment_id, withdrawn_text(number))
                surfaces.conversation.hide(outdated.node_id)
        if chosen is not None and not same:
            edit, text = chosen
            place = Suggestion(cheaper.pull_request.head_sha, edit.path, edit.line, edit.line, text)
            surfaces.suggestions.suggest(number, place)

    attempt(context, "the suggestion of a cheaper configuration", "pull-requests: write", keep)


def _choose(context: Context, surfaces: Surfaces, cheaper: Cheaper) -> tuple[LineEdit, str] | None:
    """Return the first edit that the diff shows, with its text; a line that looks like a secret is not spread."""
    number = cheaper.pull_request.number
    patches: dict[str, str | None] = {}
    for what_if in cheaper.what_ifs:
        edit = what_if.alternative.edit
        if edit is None or context.redact(edit.new) != edit.new:
            continue
        if edit.path not in patches:
            if len(patches) >= MOST_FILES:
                return None
            patches[edit.path] = surfaces.suggestions.patch_of(number, edit.path)
        patch = patches[edit.path]
        if patch is None or not shows_lines(patch, edit.line, edit.line):
            continue
        text = cheaper_text(number, what_if, edit)
        if text is not None:
            return edit, text
    return None


def _is_same(posted: Posted, edit: LineEdit) -> bool:
    return f" sum={cheaper_mark(edit)} " in posted.body.split("\n", 1)[0]
