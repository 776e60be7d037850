"""Which lines of a program decorate a function at its top."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex

MAX_ABOVE = 200
"""Lines above a function that may be its decorators."""
_FUNCTION = regex(r"(?:async )?def (\w{1,100})\(")
# What a decorator of several lines may have at a line's start.
_CONTINUES = (" ", "\t", ")", "]", "}", "#")


def decorated_lines(source: Source, function: str) -> range:
    """Return the lines, from 1, of the decorators above the only function of that name at a program's top; none where there are several."""
    return _decorated(source).get(function, range(0))


@remembered
def _decorated(source: Source) -> dict[str, range]:
    """Return the lines of the decorators of each function."""
    found: dict[str, range] = {}
    lines = source.text.split("\n")
    for place, line in enumerate(lines):
        named = _FUNCTION.match(line)
        if named is not None:
            found[named[1]] = range(0) if named[1] in found else range(_first(lines, place) + 1, place + 1)
    return found


def _first(lines: list[str], place: int) -> int:
    """Return where the decorators above a line begin, from 0; the line itself where it has none."""
    first = place
    for above in range(place - 1, max(-1, place - 1 - MAX_ABOVE), -1):
        if lines[above].startswith("@"):
            first = above
        elif not lines[above].startswith(_CONTINUES):
            break
    return first
