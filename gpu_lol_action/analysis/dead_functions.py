"""Functions that a run does not reach because every call of theirs stands in a branch that its options switch off.

``if train_architecture == "lora": self.add_lora(...)`` is the only way into ``add_lora``, whose body builds adapters. Only what nobody
else can call is followed: methods called on ``self``, and functions of a file that is itself a program.
"""

from __future__ import annotations

import itertools
import re
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
    return [body for name in itertools.islice(called, MAX_FUNCTIONS * 10) if (body := _body(text, lines, name, dead))][
        :MAX_FUNCTIONS
    ]


def _body(text: str, lines: Sequence[str], name: str, dead: Sequence[range]) -> range | None:
    """Return a function's body; None where it is not of this file, stands twice, or is named anywhere else."""
    if f"def {name}(" not in text:
        return None
    start = depth = 0
    for found in re.finditer(rf"\b{name}\b", text):
        number = text.count("\n", 0, found.start()) + 1
        if text.startswith("def ", max(0, found.start() - 4)):
            if start:
                return None
            start, depth = number, len(lines[number - 1]) - len(lines[number - 1].lstrip())
        elif not any(number in block for block in dead):
            return None
    last = start
    for number in range(start + 1, min(len(lines), start + MAX_BODY) + 1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith(")"):
            break
        last = number
    return range(start + 1, last + 1) if start else None
