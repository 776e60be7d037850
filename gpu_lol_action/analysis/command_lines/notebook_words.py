"""What a notebook's commands are told by its Python: IPython puts ``{name}`` and ``$name`` of the program into ``!python train.py``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.domain.patterns import regex

MAX_NAMES, MAX_PUT = 300, 100
_COMMAND = regex(r"(?:[ \t]+pass  |[\w, ]+ = None  )?#(?:!|%(?=run))(.*)")
_LITERAL = regex(
    r"([A-Za-z_]\w{0,60})[ \t]{0,8}=[ \t]{0,8}(?:\"([^\"\\\n]{1,300})\"|'([^'\\\n]{1,300})'|(-?\d[\d_.]{0,20}(?:e-?\d{1,3})?))[ \t]{0,40}(?:#.*)?$"
)
_ENVIRONMENT = regex(
    r"(?:#%(?:set_)?env[ \t]{1,8}([A-Za-z_]\w{0,60})(?:[ \t]{0,8}=|[ \t])[ \t]{0,8}([^\n]{1,300})|os\.environ\[[\"']([A-Za-z_]\w{0,60})[\"']\][ \t]?=[ \t]?[\"']([^\"'\\\n]{1,300})[\"'])"
)
_SETS = regex(
    r"[ \t]*(?:for[ \t]+)?([A-Za-z_][\w, \t]{0,200}?)[ \t]{0,8}(?::[ \t]?[\w.\[\]]{1,60}[ \t]?)?(?:(?:[-+*/|]|//)?=(?!=)|in\b)"
)
_NAMES = regex(r"[A-Za-z_]\w{0,60}")
_SET_BY_SHELL = regex(r"(?:^|[\s;])(?:for[ \t]+|read[ \t]+)?([A-Za-z_]\w{0,60})(?:=|(?<=\w)[ \t]+in\b)")
_PUT = regex(r"\{([A-Za-z_]\w{0,60})\}|\$([A-Za-z_]\w{0,60})")


def notebook_lines(text: str) -> Iterator[str]:
    """Yield a notebook's commands, in its order, with what the program sets before them to a text or number; what is computed stays open."""
    known: dict[str, str] = {}
    goes_on = False
    shells: set[str] = set()  # names that the lines of one command or cell of a shell set themselves
    for line in text.split("\n"):
        command = _COMMAND.match(line)
        if command is None:
            if goes_on:
                yield ""  # a command ends with its cell, though its last line goes on
            goes_on = False
            shells = set()
            _learn(line, known)
            continue
        shells |= set(_SET_BY_SHELL.findall(command[1]))
        goes_on = command[1].rstrip().endswith("\\")
        told = {name: value for name, value in known.items() if name not in shells} if shells else known
        yield _PUT.sub(functools.partial(_known, known=told), command[1], count=MAX_PUT) if told else command[1]


def _known(found: re.Match[str], known: dict[str, str]) -> str:
    is_of_shell = found[1] is not None and found.string[found.start() - 1 : found.start()] == "$"  # `${name}`
    return found[0] if is_of_shell else known.get(found[1] or found[2], found[0])


def _learn(line: str, known: dict[str, str]) -> None:
    """Keep what a line sets, and forget what it sets to something else."""
    if (told := _ENVIRONMENT.match(line)) is not None:
        name, value = told[1] or told[3], (told[2] or told[4]).strip().strip("\"'")
    elif (literal := _LITERAL.match(line)) is not None:
        name, value = literal[1], literal[2] or literal[3] or literal[4]
    else:
        anew = _SETS.match(line)
        for name in _NAMES.findall(anew[1])[:MAX_PUT] if anew is not None else ():
            known.pop(name, None)
        return
    if is_secret(name, value):
        known.pop(name, None)
        return
    if name in known or len(known) < MAX_NAMES:
        known[name] = value
