"""Commands with blanks (``--nproc_per_node=<num_gpus> train.py --model-type <model_type>``) above one that fills them in.

The first shows the form, the second is what people start: it says how many cards, which model and which configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

LINES_BETWEEN = 40
_LEFT_OUT = frozenset({"...", "…", "$@", "${@}"})
"""Words that stand for options which a document does not write down, or that a script hands on where it is given any."""
_BLANK = regex(
    r"<[A-Za-z][\w .:/|-]{0,60}>|\[[A-Z][A-Z_-]{2,40}\]|(?<![$\w{])\{[A-Za-z][\w ]{1,40}\}(?!\})|\$(?:[1-9]\b|\{[1-9]\})"
)


def filled_in(runs: Sequence[Run]) -> Mapping[Run, Run]:
    """Return the documented runs with blanks, each with the next command of its document and program that fills them in and has none itself."""
    found: dict[Run, Run] = {}
    for place, run in enumerate(runs):
        blank = _blanks(run)
        is_form = bool(blank) or _leaves_out(run)
        example = next((other for other in runs[place + 1 :] if is_form and _fills_in(other, run, blank)), None)
        if example is not None:
            found[run] = example
    return found


def _blanks(run: Run) -> frozenset[str]:
    """Return the names of a documented command's options that the reader has to fill in."""
    if run.command is None or run.script is None or not run.command.is_documented:
        return frozenset()
    return frozenset(name for name, value in run.command.options.items() if _BLANK.search(value[:200]))


def _leaves_out(run: Run) -> bool:
    """Whether a documented command leaves options out."""
    return run.command is not None and run.command.is_documented and not _LEFT_OUT.isdisjoint(run.command.words)


def _fills_in(other: Run, run: Run, blank: frozenset[str]) -> bool:
    command, form = other.command, run.command
    if command is None or form is None or other.script is not run.script or other.behavior is not run.behavior:
        return False
    if command.said.path != form.said.path or _blanks(other) or _leaves_out(other):
        return False
    if command.said.line - form.said.line > LINES_BETWEEN:
        return False  # what a table of results was made with is one of many uses
    return blank <= command.options.keys()
