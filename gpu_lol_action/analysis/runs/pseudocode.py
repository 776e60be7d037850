"""A program that calls itself pseudocode in its first words: it shows how a paper's method goes, and nobody is meant to start it."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

HEAD = 4000
"""Characters in which a licence may stand before a program's first words about itself."""
# "Pseudocode to code with T5", "Pseudocode generation model": what works on pseudocode is a program.
_CALLED = regex(
    r"(?:this (?:file |module )?is )?pseudo-?\s?code\b(?!s?(?:[\s-]{1,3}(?:to|into|2|and|data\w{0,4}|generat\w{1,4}|translat\w{1,4}|token\w{1,5}|transform\w{1,3}|synthesi\w{1,3}|compil\w{1,4}|convert\w{0,3}|model\w{0,4}|pars\w{1,3}|classif\w{1,5}|summari\w{1,4})\b|\s?(?:->|=>|→)))",
    re.IGNORECASE,
)


def is_pseudocode(run: Run) -> bool:
    """Whether what was found to be started is such a program, and no command starts it."""
    if run.command is not None or run.script is None or not run.script.mentions("seudo"):
        return False
    first = regex(r"^[rRuU]?(?:\"\"\"|''')\s{0,20}([^\n]{0,80})", re.MULTILINE).search(run.script.text[:HEAD])
    return first is not None and _CALLED.match(first[1]) is not None
