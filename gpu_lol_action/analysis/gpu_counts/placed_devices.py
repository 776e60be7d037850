"""The cards on which a program itself puts the parts of its model: by the numbers that it writes out, or divided over a mesh of all."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# A device by its number, put between quotes, or the number of a card that something is moved to.
_NUMBERED = regex(r"""["']cuda:(\d)["']|\.cuda\((\d)\)""")
# An option's default is one of several values, and text for a reader puts nothing anywhere.
_NO_PLACE = regex(r"add_argument|help\s*=|^\s*#|print\(|log\w*\(")
MOST_CARDS = 8
_DIVIDES = ("parallelize_module",)
USUAL_OF_MESH = 4
"""Cards for a program that lays a model over a mesh of however many there are: two divide it along one side, four along two."""


def placed_on(run: Run) -> list[Finding]:
    """Return how many cards a program takes by its own words; [] where it takes whatever it is given."""
    script = run.script
    if script is None:
        return []
    if (found := placed_over(script)) is not None:
        why = f"the program puts parts of its work on {found[0]} cards by their numbers"
        return [Finding("hardware.gpu_count", str(found[0]), why, Confidence.LOW, Evidence(script.path, found[1]))]
    calls = script.code.calls_named(*_DIVIDES) if script.code is not None else ()
    if not calls or run.behavior is not Behavior.TRAINS:
        return []  # what infers on one card where it is started plainly takes several where it is told to
    why = f"`{calls[0].last}` divides the model over however many there are"
    where = Evidence(script.path, script.code.line_of_file(calls[0].line) if script.code is not None else 0)
    return [Finding("hardware.gpu_count", str(USUAL_OF_MESH), why, Confidence.LOW, where)]


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
