"""Programs with a fault in them: what stands before and after it is read all the same.

One f-string that only a later Python takes (``f"{names["first"]}"``, PEP 701), the marks of a merge that nobody finished, a line that is
half typed: the interpreter refuses the whole file, but nearly all of it still says what it loads and calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from gpu_lol_action.analysis.python.dialects import modernized
from gpu_lol_action.analysis.python.syntax import BROKEN, fault_in, parse_cost, parse_program

MOST_TRIES = 8
"""How often a program is tried again, each time without one more statement, or without a wider one."""
MAX_FAULTY = 200_000
"""Characters of a program that is tried more than once."""
_CLOSERS = (")", "]", "}")


def parse_mostly(text: str, may_spend: Callable[[int], bool]) -> tuple[ast.Module | str, int]:
    """Return a program's syntax tree, or in a few words why there is none; and the line of the first statement left out, 0 where none is.

    At least half of what is written must be left: what is no Python at all stays broken. ``may_spend`` is asked before each further try
    for what it costs, in bytes of ordinary code. Lines stay where they are. Never raises, never executes anything.
    """
    tree = parse_program(text)
    if tree != BROKEN or len(text) > MAX_FAULTY:
        return tree, 0
    lines = modernized(text).split("\n")
    gaps: list[range] = []
    least = sum(map(_says, lines)) / 2
    for _ in range(MOST_TRIES):
        fault = fault_in("\n".join(lines)) if may_spend(parse_cost(text)) else None
        if fault is None:
            break
        _leave_out(lines, gaps, fault)
        if sum(map(_says, lines)) - len(gaps) < least:
            return BROKEN, 0
    tree = parse_program("\n".join(lines)) if gaps else BROKEN
    return (BROKEN, 0) if isinstance(tree, str) else (tree, min(gap.start for gap in gaps) + 1)


def _leave_out(lines: list[str], gaps: list[range], fault: SyntaxError) -> None:
    """Leave out the statement that is at fault; where that is left out already, the one that it is a part of."""
    place = min(max(fault.lineno or 1, 1), len(lines)) - 1
    if "expected an indented block" in fault.msg:  # it is told where the next statement stands
        place = next((above for above in range(place - 1, 0, -1) if _says(lines[above])), 0)
    known = next((gap for gap in gaps if place in gap), None)
    start = place if known is None else known.start
    if known is not None:
        own = _indent(lines[start])
        while start > 0 and (not _says(lines[start]) or _indent(lines[start]) >= own):
            start -= 1
    stop = _end(lines, start)
    gaps[:] = [gap for gap in gaps if gap.start not in range(start, stop)] + [range(start, stop)]
    # Whatever stood too far in would still do so.
    filling = "" if isinstance(fault, IndentationError) else " " * _indent(lines[start]) + "pass"
    lines[start:stop] = [filling, *[""] * (stop - start - 1)]


def _end(lines: list[str], start: int) -> int:
    """Return where a statement ends: behind what stands further in, and what closes its brackets."""
    own, stop = _indent(lines[start]), start + 1
    for place in range(stop, len(lines)):
        if _says(lines[place]):
            if _indent(lines[place]) <= own and not lines[place].lstrip().startswith(_CLOSERS):
                break
            stop = place + 1
    return stop


def _says(line: str) -> bool:
    """Whether a line holds more than a remark."""
    bare = line.lstrip()
    return bool(bare) and bare[0] != "#"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
