"""Where a sticky comment goes: over which of ours, or nowhere, because a newer run has spoken or nothing has changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.request import Posted
from gpu_lol_action.render.marker import parse_marker

_RUN = re.compile(r" run=[0-9.]{1,40}(?= )")


@dataclass(frozen=True, slots=True)
class Post:
    """There is none yet: say it anew."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Say it in place of what ``comment`` says."""

    comment: Posted


@dataclass(frozen=True, slots=True)
class Keep:
    """``comment`` says it already."""

    comment: Posted


@dataclass(frozen=True, slots=True)
class Yield:
    """A newer run has spoken: an older one never writes over it."""

    comment: Posted


Placement = Post | Edit | Keep | Yield


def place_sticky(ours: Sequence[Posted], body: str) -> Placement:
    """Return what to do with a body, given our comments of its kind, oldest first; the oldest is the sticky one."""
    if not ours:
        return Post()
    run = run_of(body)
    newest = max(ours, key=lambda each: run_of(each.body))
    if run and run < run_of(newest.body):
        return Yield(newest)
    return Keep(ours[0]) if is_same_text(ours[0].body, body) else Edit(ours[0])


def run_of(body: str) -> tuple[int, ...]:
    """Return run id and attempt of a comment's marker, which grow with time; empty where it names none."""
    marker = parse_marker(body)
    run = marker.values.get("run", "") if marker else ""
    parts = run.split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else ()


def is_same_text(one: str, other: str) -> bool:
    """Whether two comments say the same; which run said it, and GitHub's ends of lines, are no difference."""
    return _plain(one) == _plain(other)


def _plain(body: str) -> str:
    head, _, rest = body.replace("\r\n", "\n").partition("\n")
    return f"{_RUN.sub('', head)}\n{rest}".strip()
