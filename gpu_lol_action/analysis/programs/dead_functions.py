"""Functions that a run does not reach because every call of theirs stands in a branch that its options switch off.

``if train_architecture == "lora": self.add_lora(...)`` is the only way into ``add_lora``, whose body builds adapters. Only what nobody
else can call is followed: methods called on ``self``, and functions of a file that is itself a program.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex

MAX_FUNCTIONS = 20
MAX_BODY = 400
_CALLED = regex(r"(?<![\w.])(self\.)?([A-Za-z_]\w{2,60})\(")
_PROGRAM = '__name__ == "__main__"', "__name__ == '__main__'"


def dead_functions(text: str, dead: Sequence[range]) -> list[range]:
    """Return the bodies, as ranges of line numbers, of functions that are called in dead blocks alone."""
    if not dead:
        return []
    lines = text.split("\n")
    is_program = any(words in text for words in _PROGRAM)
    called: dict[str, None] = {}
    for block in dead:
        for found in itertools.islice(_CALLED.finditer("\n".join(lines[block.start - 1 : block.stop - 1])), 200):
            if found[1] or is_program:
                called.setdefault(found[2])
    mine = [name for name in itertools.islice(called, MAX_FUNCTIONS * 10) if f"def {name}(" in text]
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0)) if mine else []
    bodies = []
    for name in mine:
        first = _only_line(text, starts, name, dead)
        if first:
            bodies.append(_body(lines, first))
    return bodies[:MAX_FUNCTIONS]


def _only_line(text: str, starts: Sequence[int], name: str, dead: Sequence[range]) -> int:
    """Return the line that defines a function; 0 where it stands twice, or is named anywhere else."""
    first, place = 0, text.find(name)
    while place >= 0:
        end = place + len(name)
        if not (_is_of_word(text[place - 1 : place]) or _is_of_word(text[end : end + 1])):
            number = bisect.bisect_right(starts, place)
            if text.startswith("def ", max(0, place - 4)):
                if first:
                    return 0
                first = number
            elif not any(number in block for block in dead):
                return 0
        place = text.find(name, end)
    return first


def _is_of_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def _body(lines: Sequence[str], first: int) -> range:
    """Return the lines below the one that defines a function, as far as they are indented more than it."""
    depth = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    last = first
    for number in range(first + 1, min(len(lines), first + MAX_BODY) + 1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith(")"):
            break
        last = number
    return range(first + 1, last + 1)
