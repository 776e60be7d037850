"""The cards on which a program itself puts the parts of its model, by the numbers that it writes out."""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.texts import without_comment
from gpu_lol_action.domain.patterns import regex

# A device by its number, put between quotes, or the number of a card that something is moved to.
_NUMBERED = regex(r"""["']cuda:(\d)["']|\.cuda\((\d)\)""")
# An option's default is one of several values, and text for a reader puts nothing anywhere.
_NO_PLACE = regex(r"add_argument|help\s*=|^\s*#|print\(|log\w*\(")
MOST_CARDS = 8


def placed_over(source: Source) -> tuple[int, int] | None:
    """Return how many cards a program names from the first one on, and the line of the last; None where it names one or none."""
    if not source.mentions("cuda:1") and not source.mentions("cuda(1"):
        return None
    lines: dict[int, int] = {}
    for number, line in enumerate(source.text.split("\n"), 1):
        code = without_comment(line[:2000]) if "cuda" in line else ""
        if "cuda" in code and not _NO_PLACE.search(code):
            for found in _NUMBERED.finditer(code):
                lines.setdefault(int(found[1] or found[2]), number)
    count = len(lines)
    if not 1 < count <= MOST_CARDS or sorted(lines) != list(range(count)):
        return None
    return count, lines[count - 1]
