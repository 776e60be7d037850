"""Lines that a host of tasks or models starts: dstack's ``commands``, Truss' ``docker_server.start_command``.

Formats: dstack's references of tasks and services (``type``, ``env``, ``commands``); Truss' reference of its configuration
(``docker_server``). Both hold a shell's lines, which are read as those of a script, and not as settings, for they may be long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

_DSTACK = regex(r"^type:[ \t]*[\"']?(?:task|service|dev-environment)\b", re.MULTILINE)
_COMMANDS = regex(r"^commands:", re.MULTILINE)
_SERVER = regex(r"^docker_server:", re.MULTILINE)
_VARIABLE = regex(r"[ \t]+(?:-[ \t]+)?([A-Z][A-Z0-9_]*)(?:=|:[ \t]+)(\S.*)$")
_ITEM = regex(r"([ \t]*-[ \t]+)(.*)$")
_START = regex(r"([ \t]+start_command:[ \t]*)(.*)$")
_BLOCK = regex(r"[|>][-+]?[ \t]*$")
FOLDED = ">"
_ESCAPED = regex(r"\\([\"\\])")


def is_hosted(source: Source) -> bool:
    """Whether a YAML file tells dstack or Truss what to start."""
    text = source.text
    return bool(_SERVER.search(text) or (_DSTACK.search(text) and _COMMANDS.search(text)))


def hosted_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the numbered lines that are started, each with an empty section; variables that the file sets stand before them."""
    lines = source.text.split("\n")
    blocks = _blocks(lines)
    for number, line in blocks.get("env", ()):
        if found := _VARIABLE.match(line):
            yield number, f"{found[1]}={found[2].strip()}", ""
    for block, head in (("commands", _ITEM), ("docker_server", _START)):
        for number, line in _scalars(blocks.get(block, ()), head):
            yield number, line, ""


def _blocks(lines: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Return the numbered lines under each key of the document's first level."""
    blocks: dict[str, list[tuple[int, str]]] = {}
    name = ""
    for number, line in enumerate(lines, 1):
        if regex(r"[A-Za-z_]").match(line):
            name = line.partition(":")[0]
        else:
            blocks.setdefault(name, []).append((number, line))
    return blocks


def _scalars(lines: Sequence[tuple[int, str]], head: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the texts behind ``head``: a block's lines one by one, a folded block or a text over several lines as one."""
    start, parts, indent, is_block = 0, [], 0, False
    for number, line in lines:
        depth = len(line) - len(line.lstrip())
        goes_on = start and (not line.strip() or depth > indent)
        if goes_on and is_block:
            yield number, line.strip()
        elif goes_on:
            parts.append(line.strip())
        else:
            if parts:
                yield start, _unquoted(" ".join(parts))
            start, parts = 0, []
            if found := head.match(line):
                is_marked = _BLOCK.match(found[2]) is not None
                is_block = is_marked and not found[2].startswith(FOLDED)
                start, parts, indent = number, [] if is_marked else [found[2]], depth
    if parts:
        yield start, _unquoted(" ".join(parts))


def _unquoted(text: str) -> str:
    """Return a YAML scalar without the quotes around all of it."""
    bare = text.strip()
    if len(bare) < 2 or bare[0] != bare[-1] or bare[0] not in "\"'":
        return bare
    return _ESCAPED.sub(r"\1", bare[1:-1]) if bare[0] == '"' else bare[1:-1]
