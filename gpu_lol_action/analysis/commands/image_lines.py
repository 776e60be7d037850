"""What an image starts, by its Dockerfile: the last ENTRYPOINT with the last CMD behind it, with the variables that the file sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.command_lines.server_images import entry_point
from gpu_lol_action.analysis.commands.container_lines import Put, with_variables
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

MAX_LINE, MAX_PAIRS = 8000, 100
_SETS = regex(r"\s*(?:ENV|ARG)\s+(.{1,4000})", re.IGNORECASE)
_PAIR = regex(r"(?<!\S)([A-Za-z_]\w{0,60})=(\"[^\"]{1,300}\"|'[^']{1,300}'|[^\"'\s\\]{1,300})")
_OLDER_PAIR = regex(r"([A-Za-z_]\w{0,60})[ \t]+\"?([^\"\s\\]{1,300})")
_ONLY_A_SHELL = regex(r"(?:/bin/)?(?:ba)?sh -l?c")


def image_lines(source: Source, put: Put, given: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield what an image starts: the last ENTRYPOINT with the last CMD behind it. RUN builds, it starts nothing.

    ``given``: variables of whoever runs it, which go before its own.
    """
    said: dict[str, tuple[int, str]] = {}
    image: tuple[int, str] | None = None
    arguments: dict[str, str] = {}
    for number, line in _whole_lines(source):
        if found := regex(r"\s*(CMD|ENTRYPOINT)\s+(.{1,2000})", re.IGNORECASE).match(line):
            said[found[1].upper()] = (number, _exec_form(found[2]))
        elif found := regex(r"\s*FROM\s+(?:--\S+\s+)?(\S+)", re.IGNORECASE).match(line):
            said = {}
            image = number, put(found[1], arguments)
        elif found := _SETS.match(line):
            for name, value in _pairs(found[1]):
                if is_secret(name, value):
                    continue
                arguments[name] = given.get(name) or put(value, arguments)
                yield number, f"{name}={given.get(name) or value}", ""
    if image is not None and "ENTRYPOINT" not in said and (entry := entry_point(image[1])):
        said["ENTRYPOINT"] = image[0], " ".join(entry)
    words = [said[name][1] for name in ("ENTRYPOINT", "CMD") if name in said]
    words = words[1:] if len(words) > 1 and _ONLY_A_SHELL.fullmatch(words[0]) else words
    if words:
        in_front = (f"{name}={value}" for name, value in arguments.items())
        yield min(place for place, _ in said.values()), with_variables(in_front, " ".join(words)), ""


def own_words(source: Source) -> list[str]:
    """Return the words of what an image starts by itself: its last ENTRYPOINT with its last CMD behind it."""
    said: dict[str, str] = {}
    for _, line in _whole_lines(source):
        if found := regex(r"\s*(CMD|ENTRYPOINT)\s+(.{1,2000})", re.IGNORECASE).match(line):
            said[found[1].upper()] = _exec_form(found[2])
        elif regex(r"\s*FROM\s", re.IGNORECASE).match(line):
            said = {}
    return [word for name in ("ENTRYPOINT", "CMD") for word in said.get(name, "").split()]


def _whole_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of an image's file, those that go on put together, each with the number of its first."""
    start, whole = 0, ""
    for number, line in enumerate(source.text.split("\n"), 1):
        if whole and line.lstrip().startswith("#"):
            continue
        start = start if whole else number
        whole = f"{whole} {line.strip()}" if whole else line
        if line.rstrip().endswith("\\") and len(whole) < MAX_LINE:
            whole = whole.rstrip("\\ ")
            continue
        yield start, whole
        whole = ""
    if whole:
        yield start, whole


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what one line of an image sets: ``ENV A=b C="d e"``, or the older ``ENV A b``."""
    pairs = list(_PAIR.finditer(text))[:MAX_PAIRS]
    yield from ((found[1], found[2].strip("\"'")) for found in pairs)
    if not pairs and (found := _OLDER_PAIR.match(text)) is not None:
        yield found[1], found[2]


def _exec_form(text: str) -> str:
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(words, list):
        return text
    is_shell = words[:1] in (["bash"], ["sh"], ["/bin/bash"], ["/bin/sh"]) and len(words) == 3
    return str(words[2]) if is_shell else " ".join(str(word) for word in words)
