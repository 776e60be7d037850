"""Paths into the reader's own clone of this very project (``/path/to/net/train.py``): the file is the one that lies here."""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_lines import CommandLine, substitute
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.patterns import regex

_LEFT_OPEN = "path/to"
_IN_A_CLONE = regex(r"(?<![\w./-])/?path/to/[\w.-]{1,60}/([\w./-]{1,200}\.(?:py|sh))\b")


def at_hand(checkout: Checkout, line: CommandLine) -> str:
    """Return a line's text, paths below a clone whose place is left open as those of the files that are here.

    Its variables are put in where one of them holds such a place.
    """
    is_kept = "$" in line.text and any(_LEFT_OPEN in value for value in line.variables.values())
    if not is_kept and _LEFT_OPEN not in line.text:
        return line.text
    put = substitute(line.text, line.variables) if is_kept else line.text
    return _IN_A_CLONE.sub(lambda found: found[1] if checkout.find(found[1]) is not None else found[0], put)
